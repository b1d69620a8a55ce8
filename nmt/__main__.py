"""The command `nmt`, also as `python -m nmt`: prepares its environment before it imports the packages of others."""

import sys


def main() -> None:
    """Run a subcommand."""
    # imported here, since the working folder must first leave the path (see below)
    from nmt.environment import find_checkout_problem, prepare

    prepare()
    if problem := find_checkout_problem():
        print(f"error: {problem}", file=sys.stderr)
        sys.exit(2)
    from nmt.cli import main as run

    run()


if __name__ == "__main__":
    if not sys.flags.safe_path:
        del sys.path[0]  # the working folder, whose random.py would stand in for Python's
    main()
