"""Whether a program's masks or latencies are within limits, and as good as a baseline."""
