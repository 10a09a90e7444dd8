"""The page of `./lab twin`: a board's run beside the same run on the virtual board."""
