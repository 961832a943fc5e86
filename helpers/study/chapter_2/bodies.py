"""Bodies of functions to be traced, and objects to be passed to them. What they return is added."""


class Plain:
    """An object that is equal to itself alone."""

    def __init__(self, value):
        self.value = value

    def __repr__(self):
        return f"{type(self).__name__}({self.value})"


class Equal(Plain):
    """An object that is equal to those with the same value."""

    def __eq__(self, other):
        return isinstance(other, Equal) and self.value == other.value

    def __hash__(self):
        return hash(self.value)


def one(x):
    """Take one argument."""


def two(x, n):
    """Take two arguments."""


def none():
    """Take nothing."""


def append(x):
    """Append to a list."""
    x.append(1)


def append_once(x):
    """Append to a list, and leave all else alone."""
    if isinstance(x, list):
        x.append(1)


def append_first(x, n):
    """Append to a list if the second argument says so."""
    if isinstance(x, list) and n:
        x.append(1)


def new_key(x):
    """Write a new key into a dict."""
    x["new"] = 1


def nested(x):
    """Write a new key into a dict in a dict."""
    x["a"]["new"] = 1


def replace(x):
    """Put another tensor in the place of the first."""
    x[0] = x[0] + 1


def equal_in_its_place(x):
    """Put an equal object in the place of the first."""
    x[0] = Equal(x[0].value)


def raise_for_lists(x):
    """Raise an error of its own for a list."""
    if isinstance(x, list):
        raise KeyError("the body's own error")
