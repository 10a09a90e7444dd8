"""What a program does with interrupts: how long it masks, how long they wait."""
