"""What the calibration tells of the bench's instruments: marker cost, clocks, skew, ticks."""
