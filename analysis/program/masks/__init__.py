"""How long somebody's own program holds interrupts off, and who does it: `./lab masks`."""
