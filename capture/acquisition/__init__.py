"""One run observed: analyzer, records and board, all at once and watched."""
