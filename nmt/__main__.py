"""`python -m nmt`: the same command as `nmt`."""

import sys

if __name__ == "__main__":
    if not sys.flags.safe_path:
        del sys.path[0]  # the working folder, whose random.py would stand in for Python's
    from nmt.cli import main

    main()
