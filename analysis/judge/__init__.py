"""Whether runs and programs are within limits, and as good as a baseline."""
