"""Small programs for closures and exceptions, in which a nearly right handler does something else.

Cells are empty, and exceptions lie in one another. Standard library only: every supported Python
runs them.
"""

# ruff: noqa - each line is there for the bytecode that it becomes

ZERO = 0


class Same(Exception):
    """An error that is equal to everything, and false."""

    def __eq__(self, other):
        return True

    def __bool__(self):
        return False


class Leaving(GeneratorExit):
    """What `except Exception` does not catch."""


class Guarding:
    """A context manager that prints, and swallows what it is told to."""

    def __init__(self, swallows=()):
        self.swallows = swallows

    def __enter__(self):
        return "entered"

    def __exit__(self, kind, error, trace):
        print("left with", kind)
        return kind is not None and issubclass(kind, self.swallows)


def too_early(a):
    def inner():
        return later

    found = inner()
    later = a
    return found


def own_too_early(a):
    def inner():
        return later

    found = later
    later = a
    return found


def own_gone(a):
    def inner():
        return a

    del a
    return a


def empty_again(a):
    def inner():
        return a

    before = inner()
    del a
    return before, inner()


def keyword_defaults(a):
    def inner(x, *, y=3, z=a):
        return x, y, z

    return inner(1), inner(1, y=2), inner(1, z=0)


def every_part(a, b):
    def inner(x: int, y=a, *, z=b) -> str:
        return a, x, y, z

    parts = inner.__defaults__, inner.__kwdefaults__, inner.__annotations__
    return inner(0), parts, inner.__name__, inner.__closure__[0].cell_contents


def shared(a):
    def put(b):
        nonlocal a
        a = b

    def get():
        return a

    put(get() + 1)
    return a, get()


def apart(a):
    def maker(n):
        def add(m):
            nonlocal n
            n += m
            return n

        return add

    one, two = maker(a), maker(a)
    return one(1), one(1), two(5), one.__closure__[0] is two.__closure__[0]


def late(a):
    found = []
    for n in a:
        found += [lambda: n]
    return found[0](), found[1]()


def put_again(a, b):
    def put(c):
        nonlocal a
        a = c

    before = a
    put(b)
    return before, a


def looked_at(a):
    def inner(x, y=a, z=2, *, u=3, v=a):
        "What it says."
        return x, y, z, u, v

    told = inner.__doc__, inner.__name__, inner.__qualname__, inner.__module__
    return inner(0), inner(0, 1), inner(0, v=1), inner.__defaults__, told


def itself(a):
    def down(n):
        return down(n - 1) if n else "end"

    return down(a)


def through(a):
    def middle():
        def inner():
            return a, ZERO

        return inner

    return middle()()


CLOSURES = [(too_early, (1,)), (own_too_early, (1,)), (own_gone, (1,)), (empty_again, (1,))]
CLOSURES += [(keyword_defaults, (4,)), (every_part, (1, 2)), (shared, (1,)), (apart, (1,))]
CLOSURES += [(through, (a,)) for a in (None, 0, False)]
CLOSURES += [(put_again, (1, b)) for b in (None, 0, True, 1.0)] + [(looked_at, (5,))]
CLOSURES += [(late, ((1, 2),)), (itself, (2,)), (through, (3,))]


def bare():
    raise


def from_below(a):
    try:
        raise KeyError(a)
    except KeyError:
        try:
            bare()
        except LookupError as error:
            return repr(error)


def outer_again(a):
    try:
        raise KeyError(a)
    except KeyError:
        try:
            raise ValueError(a)
        except ValueError:
            pass
        raise


def in_three(a):
    try:
        1 / 0
    except ZeroDivisionError:
        try:
            a[0]
        except TypeError:
            try:
                raise KeyError
            except LookupError:
                pass
            raise
    return "not here"


def after_all(a):
    try:
        raise KeyError(a)
    except KeyError:
        pass
    raise ValueError(a)


def falsy_cause(a):
    raise ValueError(a) from Same(a)


def below_is_done(a):
    def inner():
        try:
            raise IndexError
        except IndexError:
            return a

    try:
        raise KeyError(inner())
    except KeyError:
        inner()
        raise


def from_none(a):
    try:
        raise KeyError
    except KeyError:
        raise ValueError(a) from None


def from_class(a):
    raise ValueError(a) from KeyError


def nested_error(a):
    try:
        raise KeyError
    except KeyError:
        raise ValueError


def no_error(a):
    raise a


def no_error_handled(a):
    try:
        raise KeyError
    except KeyError:
        raise a


def no_cause(a):
    raise ValueError from a


def equal_to_all(a):
    try:
        raise Same(a)
    except Same:
        raise


def passes_by(a):
    try:
        raise Leaving(a)
    except Exception:
        return "caught"


def caught_by_bare(a):
    try:
        raise Leaving(a)
    except:
        return "caught"


def twice_finally(a):
    try:
        try:
            return 1 // a
        finally:
            print("inner")
    finally:
        print("outer")


def finally_raises(a):
    try:
        raise KeyError(a)
    finally:
        raise ValueError(a)


def name_is_gone(a):
    error = a
    try:
        raise KeyError
    except KeyError as error:
        pass
    return error


def in_with(a):
    with Guarding(KeyError) as told:
        raise a
    return told


def tuple_of_classes(a):
    try:
        raise a
    except ():
        return "none"
    except (KeyError, OSError):
        return "first"
    except (ValueError, ArithmeticError):
        return "second"


def __names__(error):
    names, trace = [], error.__traceback__
    while trace is not None:
        names.append(trace.tb_frame.f_code.co_name)
        trace = trace.tb_next
    return names


def raised_below(a):
    try:
        from_inside(a)
    except KeyError as error:
        raise


def from_inside(a):
    raise KeyError(a)


def trace_stays(a):
    try:
        raised_below(a)
    except KeyError as error:
        return __names__(error)


def context_stays(a):
    try:
        try:
            raise KeyError(a)
        except KeyError:
            raise ValueError(a)
    finally:
        print("left")


EXCEPTIONS = [
    (context_stays, (1,)),
    (outer_again, (1,)),
    (in_three, (1,)),
    (after_all, (1,)),
    (from_below, (1,)),
]
EXCEPTIONS += [(trace_stays, (1,))]
EXCEPTIONS += [(below_is_done, (1,)), (from_none, (1,)), (from_class, (1,)), (nested_error, (1,))]
EXCEPTIONS += [(falsy_cause, (1,)), (no_error, (None,)), (no_error, (5,)), (no_error, (KeyError,))]
EXCEPTIONS += [(no_error_handled, (None,)), (no_cause, (None,)), (no_cause, (5,))]
EXCEPTIONS += [(equal_to_all, (1,)), (passes_by, (1,)), (caught_by_bare, (1,))]
EXCEPTIONS += [(twice_finally, (0,)), (twice_finally, (2,)), (finally_raises, (1,))]
EXCEPTIONS += [(name_is_gone, (1,)), (in_with, (KeyError(1),)), (in_with, (ValueError(1),))]
EXCEPTIONS += [(tuple_of_classes, (e,)) for e in (FileNotFoundError(), ZeroDivisionError())]
EXCEPTIONS += [(tuple_of_classes, (RuntimeError(3),)), (tuple_of_classes, (KeyError,))]
