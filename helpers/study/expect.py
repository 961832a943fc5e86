"""An error that is meant to happen -> one printed line; its absence -> a failure."""

import contextlib

from helpers.capture.text.error import said
from helpers.safety.arguments import is_a


@contextlib.contextmanager
def expect(*errors: type[BaseException]):
    """Run the block and print the expected error in one line, as a result.

    AssertionError if nothing is raised. An error of another type passes through. TypeError if what
    is given is no exception type.
    """
    if not errors or not all(is_a(e, type) and issubclass(e, BaseException) for e in errors):
        raise TypeError("expect needs exception types, such as expect(TypeError)")
    try:
        yield
    except errors as error:
        print(said(error))
    else:
        names = " or ".join(error.__name__ for error in errors)
        raise AssertionError(f"expected {names}, but this block raised nothing")
