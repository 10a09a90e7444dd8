"""Studies: what boards and allocators come to, and what a search reads."""
