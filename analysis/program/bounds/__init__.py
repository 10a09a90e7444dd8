"""How long a user's program can hold interrupts off, from its machine code: `./lab bounds`."""
