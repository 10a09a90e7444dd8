"""What wire, records and counts say, each on its own."""
