"""`python -m confee`."""

from confee.workflow.cli import main

main()
