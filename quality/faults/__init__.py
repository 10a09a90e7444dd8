"""Plants single faults in healthy runs and counts which of them the verdict lets pass."""
