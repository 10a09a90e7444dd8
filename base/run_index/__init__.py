"""All run folders below a folder as one table, kept from one time to the next."""
