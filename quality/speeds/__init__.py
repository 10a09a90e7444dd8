"""How fast the bench is, each part beside another way to do the same."""
