"""The figures, one a file: each makes a chart of a scenario's series, or None."""
