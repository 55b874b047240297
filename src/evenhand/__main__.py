"""`python -m evenhand` is the `evenhand` command."""

from evenhand.cli import main

if __name__ == "__main__":
    main()
