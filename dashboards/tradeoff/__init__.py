"""The page of `./lab heap fragmentation --output`: heap needed beside the worst critical section."""
