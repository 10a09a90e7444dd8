"""The page of `./lab heap fragmentation --output`: heap beside the worst critical section."""
