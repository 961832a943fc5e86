"""Operators on objects whose class is written in Python: the machine runs their special methods.

The order of tries is that of the language reference, "Emulating numeric types" and "Basic
customization". Where both operands are C-made, C does all the work and this module is not asked.
"""

import operator
from dataclasses import dataclass
from types import FunctionType, GeneratorType

PLAIN = frozenset(
    (int, float, complex, bool, str, bytes, bytearray, type(None), list, tuple, dict, set)
    + (frozenset, range, slice, type)
)
ITERATORS = {type(iter(made)) for made in ([], (), "", {}, set(), range(0), range(1 << 99))}
ITERATORS |= {GeneratorType, enumerate, zip, map, filter, reversed}
SEQUENCES = (str, bytes, bytearray, list, tuple)


def is_plain(obj) -> bool:
    """Return whether no Python code stands behind an object."""
    return type(type(obj)) is type and type(obj) in PLAIN


@dataclass(frozen=True)
class Operator:
    """One operator: its C function and the names of its special methods."""

    sign: str
    native: object
    method: str
    reflected: str
    in_place: str = ""


def _operators():
    words = {
        **{"+": "add", "&": "and", "//": "floordiv", "<<": "lshift", "@": "matmul", "*": "mul"},
        **{"%": "mod", "|": "or", "**": "pow", ">>": "rshift", "-": "sub", "/": "truediv"},
        "^": "xor",
    }
    for sign, word in words.items():
        names = f"__{word}__", f"__r{word}__"
        yield Operator(sign, getattr(operator, names[0]), *names)
        yield Operator(f"{sign}=", getattr(operator, f"__i{word}__"), *names, f"__i{word}__")


OPERATORS = {op.sign: op for op in _operators()}
COMPARISONS = {
    sign: Operator(sign, getattr(operator, word), f"__{word}__", f"__{mirror}__")
    for sign, word, mirror in (
        *(("<", "lt", "gt"), ("<=", "le", "ge"), ("==", "eq", "eq")),
        *(("!=", "ne", "ne"), (">", "gt", "lt"), (">=", "ge", "le")),
    )
}

ARITHMETIC = {sign: op.native for sign, op in OPERATORS.items()}
COMPARISON = {sign: op.native for sign, op in COMPARISONS.items()}


def python_method(obj, name: str) -> FunctionType | None:
    """Return the Python function that the type of `obj` has under `name`, or None."""
    found = getattr(type(obj), name, None)
    return found if type(found) is FunctionType else None


def binary(frame, sign: str, left, right):
    """Return `left sign right` for a binary operator, also one in place."""
    op = OPERATORS[sign]
    in_place = op.in_place and python_method(left, op.in_place)
    if in_place:
        value = frame.call(in_place, left, right)
        if value is not NotImplemented:
            return value
    elif op.in_place and hasattr(type(left), op.in_place):
        return op.native(left, right)
    mine, theirs = _pair(left, right, op)
    if mine is None and theirs is None:
        return op.native(left, right)
    value = _tries(frame, op, mine, theirs, left, right)
    if value is not NotImplemented:
        return value
    sign = "** or pow()" if op.sign == "**" else op.sign
    raise TypeError(
        f"unsupported operand type(s) for {sign}: "
        f"'{type(left).__name__}' and '{type(right).__name__}'"
    )


def compare(frame, sign: str, left, right):
    """Return `left sign right` for a comparison; == and != fall back on identity."""
    op = COMPARISONS[sign]
    mine, theirs = python_method(left, op.method), python_method(right, op.reflected)
    if mine is None and theirs is None:
        return op.native(left, right)
    value = _tries(frame, op, mine, theirs, left, right, comparing=True)
    if value is not NotImplemented:
        return value
    if op.sign in ("==", "!="):
        return (left is right) == (op.sign == "==")
    raise TypeError(
        f"'{op.sign}' not supported between instances of "
        f"'{type(left).__name__}' and '{type(right).__name__}'"
    )


def _pair(left, right, op):
    """Return the two Python methods; the right one only answers if its type is another."""
    mine = python_method(left, op.method)
    theirs = python_method(right, op.reflected) if type(right) is not type(left) else None
    return mine, theirs


def _tries(frame, op, mine, theirs, left, right, comparing=False):
    def ask_left():
        if mine is not None:
            return frame.call(mine, left, right)
        if isinstance(left, SEQUENCES) and not comparing and op.sign[0] in "+*":
            return NotImplemented  # They concatenate and repeat last, after the right side's word.
        method = getattr(type(left), op.method, None)
        return NotImplemented if method is None else method(left, right)

    def ask_right():
        if theirs is not None:
            return frame.call(theirs, right, left)
        if type(right) is type(left) and not comparing:
            return NotImplemented
        method = getattr(type(right), op.reflected, None)
        return NotImplemented if method is None else method(right, left)

    kinder = type(right) is not type(left) and issubclass(type(right), type(left))
    if kinder and not comparing and getattr(type(left), op.reflected, None) is theirs:
        kinder = False  # Inherited unchanged: it knows no more than the left side does.
    for ask in (ask_right, ask_left) if kinder else (ask_left, ask_right):
        value = ask()
        if value is not NotImplemented:
            return value
    return NotImplemented


def send(frame, obj, name: str, native, *args):
    """Call the special method `name` of `obj` here if it is written in Python, else `native`."""
    method = None if is_plain(obj) else python_method(obj, name)
    return frame.call(method, obj, *args) if method else native(obj, *args)


def contains(frame, container, item) -> bool:
    """Return `item in container`."""
    method = None if is_plain(container) else python_method(container, "__contains__")
    return bool(frame.call(method, container, item)) if method else item in container


def truth(frame, value) -> bool:
    """Return bool(value), running a Python `__bool__`, or else a Python `__len__`, here."""
    if type(value) in PLAIN:
        return bool(value)
    method = python_method(value, "__bool__")
    if method is None:
        return bool(value)
    answer = frame.call(method, value)
    if answer is not True and answer is not False:
        raise TypeError(f"__bool__ should return bool, returned {type(answer).__name__}")
    return answer


def iterate(frame, obj):
    """Return iter(obj)."""
    method = None if is_plain(obj) else python_method(obj, "__iter__")
    if method is None:
        return iter(obj)
    iterator = frame.call(method, obj)
    if not hasattr(type(iterator), "__next__"):
        raise TypeError(f"iter() returned non-iterator of type '{type(iterator).__name__}'")
    return iterator


def advance(frame, iterator, otherwise):
    """Return next(iterator), or `otherwise` when there is no next."""
    method = python_method(iterator, "__next__")
    if method is None:
        return next(iterator, otherwise)
    try:
        return frame.call(method, iterator)
    except StopIteration:
        return otherwise


def bound(obj, name: str, protocol: str, missed: str = ""):
    """Return a special method of `obj`, bound, found on its type; TypeError if there is none."""
    cls = type(obj)
    for base in cls.__mro__:
        if name in base.__dict__:
            found = base.__dict__[name]
            get = getattr(type(found), "__get__", None)
            return found if get is None else get(found, obj, cls)
    raise TypeError(f"'{cls.__name__}' object does not support the {protocol} protocol{missed}")


def exception(frame, error, raising=True):
    """Return what `raise` raises: of a class an instance, made by calling it with no arguments.

    What is handled becomes its context, as `_PyErr_SetObject` in `Python/errors.c` does it.
    """
    if isinstance(error, type) and issubclass(error, BaseException):
        made = frame.call(error)
        if not isinstance(made, BaseException):
            kind = type(made)
            raise TypeError(
                f"calling {error!r} should have returned an instance of BaseException, not {kind!r}"
            )
        error = made
    handled = frame.handled if raising else None
    if isinstance(error, BaseException) and handled is not None and error is not handled:
        _set_context(error, handled)
    return error


def _set_context(error, handled):
    link = handled
    while link.__context__ is not None:
        if link.__context__ is error:
            link.__context__ = None
            break
        link = link.__context__
    error.__context__ = handled


def refuse_uncatchable(wanted):
    """Raise TypeError if `except` cannot catch that: a class, or a tuple of classes."""
    for cls in wanted if isinstance(wanted, tuple) else (wanted,):
        if not (isinstance(cls, type) and issubclass(cls, BaseException)):
            raise TypeError(
                "catching classes that do not inherit from BaseException is not allowed"
            )
