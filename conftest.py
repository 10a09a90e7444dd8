"""How tests run: property tests with the same examples on every machine, and several processes at a time."""

from __future__ import annotations

import pytest
from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None, database=None)
settings.load_profile("repeatable")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that share a fixture of their module stay in one process, which makes it once."""
    for item in items:
        if group := _shared(item):
            item.add_marker(pytest.mark.xdist_group(group))


def _shared(item: pytest.Item) -> str:
    """The module and, where its fixtures have parameters, which of them; empty without such a fixture."""
    fixtures = item._fixtureinfo.name2fixturedefs if isinstance(item, pytest.Function) else {}
    of_module = sorted(name for name, chain in fixtures.items() if chain[-1].scope == "module")
    if not of_module:
        return ""
    indices = item.callspec.indices if hasattr(item, "callspec") else {}
    return "-".join(
        [item.nodeid.partition("::")[0], *(f"{n}={indices[n]}" for n in of_module if n in indices)]
    )
