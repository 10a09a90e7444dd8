"""The firmware of the Nucleo-F401RE, and how it is built."""
