"""Run the command as ``python -m momentree``."""

from momentree.cli import main

if __name__ == "__main__":
    main()
