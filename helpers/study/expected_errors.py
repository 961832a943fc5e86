"""Run a block of code that should raise an error, and print the error in one line."""

import contextlib

from helpers.capture.text.error import describe_error


@contextlib.contextmanager
def expect(*errors: type[BaseException]):
    """Run the block and print the expected error in one line, as a result.

    AssertionError if nothing is raised. An error of another type passes through.
    """
    try:
        yield
    except errors as error:
        print(describe_error(error))
    else:
        names = " or ".join(error.__name__ for error in errors)
        raise AssertionError(f"expected {names}, but this block raised nothing")
