"""`python -m egg`."""

from egg.cli import main

main()
