"""What the calibration tells of the instruments: marker cost, clocks, skew, ticks."""
