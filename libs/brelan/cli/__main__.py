"""``python -m brelan.cli``."""

from brelan.cli import main

if __name__ == "__main__":
    main()
