"""How long an interrupt of somebody's program would wait, and how long its sections take."""
