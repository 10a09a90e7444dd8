tailscope_knob(REMAINDER_FIRST 0 "1: management in the region, then the remainder, then the largest blocks")
