"""Studies: what instruments cost, what bounds are worth, how fast the virtual Nucleo is."""
