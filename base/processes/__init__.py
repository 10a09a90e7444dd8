"""This process and those that it starts: signals, and children that end. Imports no other room."""
