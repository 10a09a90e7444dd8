"""`python -m console` is `./lab`, but does not check what is installed."""

from console.command_line import program

program.run()
