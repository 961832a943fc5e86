"""Objects whose special methods note in `RAN` that they ran, and programs that use them.

A program runs some of them itself. A verb that makes one call must run the same ones.
"""

import dataclasses
import enum

RAN: list[str] = []
NAMES = """
    __str__ __repr__ __format__ __eq__ __ne__ __lt__ __hash__ __bool__ __len__ __iter__ __contains__
    __getitem__ __index__ __int__ __float__ __dir__ __getattr__ __getattribute__ __reduce_ex__
    __copy__ __deepcopy__ __setattr__ __delattr__ __call__ __enter__ __exit__ __array__
    __instancecheck__ __subclasscheck__
""".split()  # noqa: SIM905
RESULTS = {"__str__": "text", "__repr__": "repr", "__format__": "form", "__len__": 1}
RESULTS |= {"__hash__": 1, "__bool__": True, "__int__": 1, "__index__": 1, "__float__": 1.0}
RESULTS |= {"__dir__": [], "__iter__": iter(()), "__contains__": False, "__lt__": False}


def noting(kind: type, name: str):
    """Return a special method that notes that it ran, and does what that of the base does."""
    inherited = getattr(kind.__mro__[1], name, None)

    def method(self, *args):
        RAN.append(f"{kind.__name__}.{name}")
        if name in RESULTS:
            return RESULTS[name]
        if name == "__eq__":
            return self is args[0]
        if inherited is None:
            raise AttributeError(args[0] if args else name)
        return inherited(self, *args)

    return method


def is_noted(kind: type) -> type:
    """Let a class note each use of its special methods, and of a property."""
    has = [name for name in NAMES if name in RESULTS or hasattr(kind.__mro__[1], name)]
    refused = ("__contains__", "__iter__", "__len__") if issubclass(kind, enum.Enum) else ()
    for name in {*has, "__getattr__", "__eq__"} - {"__getattribute__", "__setattr__", *refused}:
        setattr(kind, name, noting(kind, name))
    for name in ("shape", "dtype", "name_of_it", "exceptions", "message"):
        setattr(kind, name, property(noting(kind, name)))
    return kind


def noting_class() -> type:
    """Return a metaclass whose special methods note that they ran."""

    class Meta(type):
        def __hash__(cls):
            RAN.append("Meta.__hash__")
            return 1

        def __eq__(cls, other):
            RAN.append("Meta.__eq__")
            return cls is other

        def __repr__(cls):
            RAN.append("Meta.__repr__")
            return "Meta"

        def __instancecheck__(cls, one):
            RAN.append("Meta.__instancecheck__")
            return False

        def __bool__(cls):
            RAN.append("Meta.__bool__")
            return True

        def __call__(cls, *args, **kwargs):
            return super().__call__(*args, **kwargs)

    return Meta


@is_noted
class Plain:
    """An object of a plain class."""


@is_noted
class Text(str):
    """Text."""

    __slots__ = ()


@is_noted
class Number(int):
    """A number."""


@is_noted
class Items(list):
    """A list."""


@is_noted
class Pairs(dict):
    """A dict."""


@is_noted
class Row(tuple):
    """A tuple."""

    __slots__ = ()


class Colour(enum.Enum):
    """An enumeration, whose members note."""

    RED = 1

    def __str__(self):
        RAN.append("Colour.__str__")
        return "red"

    def __repr__(self):
        RAN.append("Colour.__repr__")
        return "red"

    def __eq__(self, other):
        RAN.append("Colour.__eq__")
        return self is other

    def __hash__(self):
        RAN.append("Colour.__hash__")
        return 1

    def __bool__(self):
        RAN.append("Colour.__bool__")
        return True


@is_noted
@dataclasses.dataclass
class Data:
    """A dataclass."""

    one: object = 1


@is_noted
class Refused(Exception):
    """An error with a message of its own."""


@is_noted
class LooksMissing(ModuleNotFoundError):
    """An error of an import."""


@is_noted
class Several(ExceptionGroup):
    """A group of errors."""


class OfMeta(metaclass=noting_class()):
    """An object whose class notes."""


class KeyOf:
    """A key of a dict."""

    def __hash__(self):
        RAN.append("KeyOf.__hash__")
        return 7

    def __eq__(self, other):
        RAN.append("KeyOf.__eq__")
        return self is other

    def __repr__(self):
        RAN.append("KeyOf.__repr__")
        return "key"


MAKERS = {
    "plain": Plain,
    "text": lambda: Text("words"),
    "number": lambda: Number(3),
    "list": lambda: Items([1, 2]),
    "dict": lambda: Pairs(a=1),
    "tuple": lambda: Row((1, 2)),
    "enum": lambda: Colour.RED,
    "dataclass": Data,
    "of a metaclass": OfMeta,
    "class of a metaclass": lambda: OfMeta,
    "key": lambda: {KeyOf(): 1},
    "value": lambda: {"a": Plain(), "b": [Plain()]},
    "member": lambda: [Plain(), (Text("a"), Number(2))],
}
ERRORS = {
    "error": lambda: Refused("why"),
    "error of an object": lambda: ValueError(Plain()),
    "error of two objects": lambda: ValueError(Plain(), Text("a")),
    "error of a text": lambda: RuntimeError(Text("a")),
    "key error": lambda: KeyError(Plain()),
    "os error": lambda: OSError(2, Text("none"), Text("file")),
    "missing module": lambda: LooksMissing("why", name="tensorflow"),
    "error of a number": lambda: SystemError(Number(2)),
    "group": lambda: Several("why", [Refused("a"), ValueError(Plain())]),
    "plain group": lambda: ExceptionGroup("why", [Refused("a"), KeyError(Plain())]),
    "stop": lambda: StopIteration(Plain()),
    "assertion": lambda: AssertionError(Plain()),
}


def uses(value):
    """Return a value from a variable, in a list."""
    kept = value
    for _ in range(2):
        again = kept
    return again


def says(value):
    """Return a value whose words the program asks for, too."""
    return str(value), bool(value), value == value


def fails(make):
    """Raise what is made."""
    error = make()
    raise error


def fails_behind(make):
    """Raise an error that has another behind it, and a note."""
    try:
        raise make()
    except BaseException as error:
        error.__notes__ = [Text("a note")]
        raise ValueError("in front") from error


def programs() -> dict:
    """Return name -> a function that makes (function, arguments) of a call."""
    found = {}
    for name, make in MAKERS.items():
        found[f"{name}: argument"] = lambda make=make: (uses, (make(),))
        found[f"{name}: used"] = lambda make=make: (says, (make(),))
    for name, make in ERRORS.items():
        found[f"{name}: raised"] = lambda make=make: (fails, (make,))
        found[f"{name}: behind"] = lambda make=make: (fails_behind, (make,))
    return found
