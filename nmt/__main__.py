"""`python -m nmt`: the same command as `nmt`."""

from nmt.cli import main

if __name__ == "__main__":
    main()
