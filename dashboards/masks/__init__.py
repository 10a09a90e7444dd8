"""The page of what holds interrupts off in a program: `./lab masks --output FILE.html`."""
