"""The page of `./lab heap fragmentation`: heap needed beside the worst critical section."""
