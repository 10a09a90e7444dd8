"""The tables of five publications, made again: README.md of this room."""
