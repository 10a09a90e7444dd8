"""Upper bounds of the critical section from the machine code of a built image, beside what was observed."""
