"""What instructions share that call special methods: operators by sign, `with`, `raise`, `except`.

CPython itself runs what an operator, a loop or a truth calls: `__add__`, `__next__`, `__bool__`.
"""

import operator

_WORDS = {
    **{"+": "add", "&": "and", "//": "floordiv", "<<": "lshift", "@": "matmul", "*": "mul"},
    **{"%": "mod", "|": "or", "**": "pow", ">>": "rshift", "-": "sub", "/": "truediv"},
    "^": "xor",
}
ARITHMETIC = {
    sign + end: getattr(operator, f"__{kind}{word}__")
    for end, kind in (("", ""), ("=", "i"))
    for sign, word in _WORDS.items()
}
COMPARISON = {
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
}


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
