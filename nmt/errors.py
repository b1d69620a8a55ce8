"""The one exception that speaks to the user."""


class UserError(Exception):
    """Bad input, said in one line: which file, key or line, what was found, what was expected, what to do.

    The command line prints the message without a traceback and exits with code 2.
    """
