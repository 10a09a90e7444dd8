"""How property tests run: the same examples on every machine, however slow, and nothing kept between runs."""

from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None, database=None)
settings.load_profile("repeatable")
