"""`python -m confee`."""

from confee.cli import main

main()
