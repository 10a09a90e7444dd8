"""From a point of a figure to the capture around it: keys and windows."""
