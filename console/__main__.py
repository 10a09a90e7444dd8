"""`python -m console` is `./lab` without its look at what is installed."""

from console.command_line import program

program.run()
