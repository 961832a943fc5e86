"""A function -> the names that its body can rebind: read, compared, and put back.

They are the globals of its module, the cells of its closure, and the attributes of classes.
"""

from types import CellType, CodeType

from helpers.safety.arguments import is_a, is_exactly, printable

SCALARS = (str, bytes, int, float, complex, bool, type(None))
GONE = object()
LAZY = ("__annotations__", "__annotations_cache__", "__slotnames__")  # Python adds them when asked


class Names:
    """The names as they are now. `rebound` compares with them, `put_back` writes them again.

    A global that the code does not mention is told and not put back: a thread may have written it.
    """

    def __init__(self, functions, classes):
        self._spaces = {}  # id -> what has the names, how they are told, and the names
        self._mentioned = set()
        for function in functions:
            self._mentioned |= _mentioned(function.__code__)
            self._add(function.__globals__, "")
            free = function.__code__.co_freevars
            for name, cell in zip(free, function.__closure__ or (), strict=True):
                self._add(cell, name)
        for cls in classes:
            self._add(cls, f"{printable(_NAME(cls))}.")

    def rebound(self) -> dict[str, object]:
        """Return name -> what it refers to now, of each that refers to something else."""
        return {
            f"{prefix}{printable(name)}": _names(owner).get(name, GONE)
            for owner, prefix, before in self._spaces.values()
            for name in _others(before, _names(owner))
        }

    def put_back(self) -> None:
        """Let every name refer to what it referred to."""
        for owner, _, before in self._spaces.values():
            names = _others(before, _names(owner))
            if is_a(owner, dict):
                names = self._mentioned.intersection(names)
            for name in names:
                _write(owner, name, before.get(name, GONE))

    def _add(self, owner, prefix) -> None:
        self._spaces.setdefault(id(owner), (owner, prefix, _names(owner)))


def _mentioned(code: CodeType) -> set[str]:
    inner = (one for one in code.co_consts if type(one) is CodeType)
    return set(code.co_names).union(*map(_mentioned, inner))


def _names(owner) -> dict[str, object]:
    if type(owner) is CellType:
        try:
            return {"": owner.cell_contents}
        except ValueError:
            return {}
    if is_a(owner, dict):
        held = list(dict.items(owner))
        return {n: value for n, value in held if type(n) is str and not n.startswith("__")}
    return {name: value for name, value in _SPACE(owner).items() if name not in LAZY}


def _others(before: dict, now: dict) -> list[str]:
    return [
        name for name in {**before, **now} if _other(before.get(name, GONE), now.get(name, GONE))
    ]


def _other(one, other) -> bool:
    same = type(one) is type(other) and is_exactly(one, *SCALARS) and one == other
    return one is not other and not same


def _write(owner, name, value) -> None:
    if type(owner) is CellType:
        if value is GONE:
            del owner.cell_contents
        else:
            owner.cell_contents = value
    elif is_a(owner, type):
        type.__delattr__(owner, name) if value is GONE else type.__setattr__(owner, name, value)
    elif value is GONE:
        dict.pop(owner, name, None)
    else:
        dict.__setitem__(owner, name, value)


_NAME = type.__dict__["__name__"].__get__
_SPACE = type.__dict__["__dict__"].__get__
