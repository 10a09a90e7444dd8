"""The page of `./lab fragmentation --output`: heap needed beside the worst critical section."""
