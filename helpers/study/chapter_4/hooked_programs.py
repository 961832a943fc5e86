"""Small programs, each with the one function whose frames are to run in the machine."""


def plus(a, b=10):
    """Return a sum."""
    return a + b


def simple():
    """Call it in three ways; `map` calls it from C."""
    return plus(1), plus(b=2, a=3), list(map(plus, [1, 2], [3, 4]))


def factorial(n):
    """Call itself."""
    return 1 if n < 2 else n * factorial(n - 1)


def recursive():
    """Give what it gives for two numbers."""
    return factorial(5), factorial(0)


def ping(n):
    """Call another one, which calls this one."""
    return pong(n - 1) if n else "ping"


def pong(n):
    """Call ping."""
    return ping(n - 1) if n else "pong"


def in_turn():
    """Begin with the one, then with the other."""
    return ping(4), pong(3)


def nested(n):
    """Call itself from C."""
    return [n, *map(nested, range(n))]


def through_c():
    """Give a list of lists."""
    return nested(2)


def every_kind(a, /, b=2, *rest, c, d=4, **more):
    """Return all that it is given."""
    return a, b, rest, c, d, more


def named():
    """Give some of them by name, more or fewer than it names."""
    return every_kind(1, c=3), every_kind(1, 5, 6, 7, d=0, c=8, z=9), every_kind(0, a=1, c=2)


def only_named(*, first, second=2):
    """Return both."""
    return first, second


def by_name():
    """Give them by name alone."""
    return only_named(second=3, first=1), only_named(first=0)


def only_more(**more):
    """Return all."""
    return more


def all_by_name():
    """Give two, none."""
    return only_more(b=1, a=2), only_more()


def only_rest(*rest):
    """Return all."""
    return rest


def all_in_order():
    """Give two, none, and one that is a dict."""
    return only_rest(2, 1), only_rest(), only_rest({"a": 1})


def share(n):
    """Divide, and fail for 0."""
    try:
        return 12 // n
    except TypeError:
        return "no number"
    finally:
        print("", end="")


def failing():
    """Let the error out."""
    return share(4), share("x"), share(0)


def caught():
    """Handle the error of the function, and then raise another one."""
    try:
        share(0)
    except ZeroDivisionError as error:
        raise KeyError(str(error)) from error


def make_counter():
    """Return a function with a cell."""
    count = 0

    def up(by=1):
        nonlocal count
        count += by
        return count

    return up


counter = make_counter()


def counted():
    """Change what the cell holds, and put it back."""
    return counter(), counter(by=4), counter(-5)


def never_called():
    """Call nothing of it."""
    return pong(0)


CASES = (
    *((simple, plus), (recursive, factorial), (in_turn, ping), (through_c, nested)),
    *((named, every_kind), (by_name, only_named), (all_by_name, only_more)),
    *((all_in_order, only_rest), (failing, share), (caught, share), (counted, counter)),
    (never_called, factorial),
)
