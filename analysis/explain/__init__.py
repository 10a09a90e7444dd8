"""Explains the worst sample of a run: replays what the virtual board did then, and checks it."""
