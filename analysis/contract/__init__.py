"""An allocator against its contract: rules, shortest counterexamples, suites."""
