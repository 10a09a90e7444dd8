"""Which clip is on which pin: the wiring plan, and its check against what the analyzer sees."""
