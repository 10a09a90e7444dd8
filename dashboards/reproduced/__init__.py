"""The page of `./lab reproduce`: published figures and those made here, a section a table."""
