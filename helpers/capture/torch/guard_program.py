"""A cache entry -> its guards as one Python function that runs, and that answers as torch's tree.

Torch writes a text beside each guard; what C++ checks is often more (`L['n'] == 2` asks for the
type as well; torch/csrc/dynamo/guards.cpp). A text that is not known to say it all is not used:
the line then asks torch's live guard; every other line is plain Python.
"""

import ast
import builtins
import importlib
import inspect
import re
import sys
from types import FunctionType

from helpers.capture.cpython.objects import named
from helpers.capture.text.value import label
from helpers.capture.torch import cache_entries
from helpers.capture.torch.cache_entries import behind, entries, frame_locals, given, own_signature
from helpers.capture.torch.guard_tree import ALIASING, BETWEEN, TENSOR, check_of, leaves, managers
from helpers.internals import torch_private
from helpers.model.guards import (
    ASKED_COLUMN,
    HOLDS,
    LINE_COLUMNS,
    NOT_ASKED,
    REFUSES,
    GuardLine,
    GuardProgram,
)
from helpers.model.phrase import clipped
from helpers.safety.arguments import count, is_exactly
from helpers.safety.restoring import whole

LONGEST = 400
NAME = "holds"
BUILTINS_DICT = "__builtins_dict__"
CLASS_TEXT = re.compile(r"type=<class '([\w.]+)'>")
IDENTITY = re.compile(r"(___check_(?:obj|type)_id)\((.*), (\d+)\)(?:, type=.*)?", re.DOTALL)
MARK = re.compile(r"hasattr\((.*), '(\w+)'\) == False", re.DOTALL)
PLAIN_TENSORS = {"Tensor": "torch.Tensor", "Parameter": "torch.nn.Parameter"}


def guard_function(fn, entry: int = 1) -> FunctionType:
    """Return the guards of a cache entry of `fn` as a Python function of the same arguments.

    It says True or False, as torch's own tree would. LookupError if nothing was compiled for `fn`;
    ValueError for an `entry` that there is not.
    """
    return WrittenGuards(fn, entry).function


def guard_program(fn, call=None, entry: int = 1) -> GuardProgram:
    """Return the same function as text, a row per guard; with `call`, which row refuses that call.

    `call`: a tuple or list of arguments, or a dict of them by name. Errors as `guard_function`;
    TypeError for a `call` that is none, or that does not fit.
    """
    written = WrittenGuards(fn, entry)
    said, verdicts = [""] * len(written.lines), {}
    if call is not None:
        args, kwargs = given(fn, *_arguments(call))
        cache_entries.first_call(written.behind, args, kwargs)
        said = written.asked(args, kwargs)
        verdicts = {
            "accepts": written.function(*args, **kwargs),
            "torch_accepts": _of_torch(written, args, kwargs),
        }
    rows = tuple(
        GuardLine(clipped(line, LONGEST), kind, own, word)
        for (line, kind, own), word in zip(written.lines, said, strict=True)
    )
    columns = (*LINE_COLUMNS, ASKED_COLUMN) if call is not None else LINE_COLUMNS
    title = f"The guards of {named(written.behind)}(), entry {written.number}, as Python"
    note = " ".join((_note(rows, verdicts), *written.told))
    return GuardProgram(title, columns, rows, note, source=written.source, **verdicts)


# A guard that raises leaves __torch_function__ off.
_accepts = whole(cache_entries.accepts, ("torch's dispatch keys",))


def _of_torch(written, args, kwargs) -> bool | None:
    """Return the answer of torch's own tree; None where it raises, as for a nested tensor."""
    try:
        return _accepts(written.entry, frame_locals(written.behind, args, kwargs))
    except Exception:
        return None


def _arguments(call) -> tuple[tuple, dict]:
    if is_exactly(call, tuple, list):
        return tuple(call), {}
    if is_exactly(call, dict) and all(type(name) is str for name in call):
        return (), dict(call)
    raise TypeError(f"call is a tuple of arguments, or a dict of them by name, not {label(call)}")


def _note(rows, verdicts) -> str:
    asked = sum(not row.own for row in rows)
    note = f"{len(rows) - asked} of {len(rows)} are Python, {asked} ask torch's guard in C++."
    if verdicts:
        words = {True: "accepts this call", False: "refuses this call", None: "raises an error"}
        note += f" torch's own tree {words[verdicts['torch_accepts']]}."
    return note


class WrittenGuards:
    """The guards of entry number `entry` of `fn`, from 1 in the order of compilation, as Python.

    `source` is one function, and `function` is it, made; `lines` are what it asks, in order, each
    with the kind of its guard. LookupError if nothing was compiled for `fn`.
    """

    def __init__(self, fn, entry: int = 1):
        self.behind, self.told = behind(fn, compiled=True)
        kept = entries(self.behind.__code__)
        if not kept:
            raise LookupError(f"Dynamo keeps no compiled code for {named(self.behind)}()")
        self.number = count(entry, "entry", len(kept))
        self.entry = kept[self.number - 1]
        self.names = _Names(self.behind)
        self.lines = tuple(dict.fromkeys(self._lines()))
        self.signature = self._signature()
        self.source = self._source()
        self.function = self._with_defaults(self._made(self.source)[NAME])

    def _lines(self):
        """Yield (expression, kind of guard, whether it is Python of its own) of every guard."""
        root, names = self.entry.guard_manager.root, self.names
        whole_tree = names.asking("DICT_SIZE", root.check, names.all_locals())
        for manager in managers(root):
            if hasattr(manager, "get_key_value_managers"):
                # Its size is kept in C++ alone, and it cannot be asked by itself.
                yield whole_tree, "DICT_SIZE", False
        for leaf in leaves(self.entry):
            write = _WRITTEN.get(leaf.kind)
            try:
                if write is None:
                    raise _NoPython
                yield from ((part, leaf.kind, True) for part in write(leaf, names))
                continue
            except (_NoPython, SyntaxError):
                pass
            try:
                of_all = leaf.source in ("L", BETWEEN)
                value = names.all_locals() if of_all else _python_of(leaf.source, names)
                yield names.asking(leaf.kind, leaf.check, value), leaf.kind, False
            except (_NoPython, SyntaxError):  # what it looks at has no name in Python
                asked = names.asking(leaf.kind, root.check, names.all_locals())
                yield asked, leaf.kind, False

    def _signature(self) -> str:
        given_ = own_signature(self.behind)
        shown = [one.replace(default=self._default(one)) for one in given_.parameters.values()]
        return str(given_.replace(parameters=shown))

    def _default(self, parameter):
        value, nothing = parameter.default, inspect.Parameter.empty
        if value is nothing or is_exactly(value, int, float, bool, str, type(None)):
            return value
        self.names.bound.setdefault("defaults", {})[parameter.name] = value
        return _Text(f"defaults[{parameter.name!r}]")

    def _source(self) -> str:
        checks = [
            f"{line}  # {kind}{'' if own else ', asked of C++'}" for line, kind, own in self.lines
        ]
        body = "\n            and ".join(checks) or "True"
        error = self.names.builtin("Exception")
        return (
            f"def {NAME}{self.signature}:\n    try:\n        return (\n            {body}\n"
            f"        )\n    except {error}:\n        return False  # a value that is gone fails\n"
        )

    def _made(self, source: str) -> dict:
        space = dict(self.names.bound)
        exec(compile(source, "<guards>", "exec"), space)
        return space

    def asked(self, args, kwargs) -> list[str]:
        """Return for each line whether it holds for a call; after one that refuses, no more."""
        words: list[str] = []
        for line, _, _ in self.lines:
            if REFUSES in words:
                words.append(NOT_ASKED)
                continue
            space = self._made(f"line = lambda {self.signature[1:-1]}: {line}")
            try:
                holds = self._with_defaults(space["line"])(*args, **kwargs)
            except Exception:
                holds = False
            words.append(HOLDS if holds else REFUSES)
        return words

    def _with_defaults(self, fn) -> FunctionType:
        fn.__defaults__, fn.__kwdefaults__ = self.behind.__defaults__, self.behind.__kwdefaults__
        return fn


class _Text:
    """What a signature shows for a default that has no plain form."""

    def __init__(self, words: str):
        self._words = words

    def __repr__(self) -> str:
        return self._words


class _NoPython(Exception):
    """A guard, or the way to its value, that cannot be said in Python."""


class _Names:
    """The names of one written function: its own arguments, and what else its lines need.

    `bound`: name -> what it stands for, the arguments' own names left free; `ids`: those that torch
    kept.
    """

    def __init__(self, fn):
        self.arguments = tuple(own_signature(fn).parameters)
        self._fn, self.ids, self._asked, self.bound = fn, [], {}, {}
        self._cells = dict(zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True))
        self._seen = lambda arguments: arguments | cache_entries.closure_values(fn)

    def bind(self, name: str, value: object) -> str:
        """Return a name for a value: this one, or the first free one that is like it."""
        while name in self.arguments or not _is_same(self.bound.get(name, value), value):
            name += "_"
        self.bound[name] = value
        return name

    def local(self, name: str) -> str:
        """Return how the written function says a local of the frame."""
        if name in self.arguments:
            return name
        if name in self._cells:
            return f"{self.bind('cells', self._cells)}[{name!r}].cell_contents"
        raise _NoPython

    def of_globals(self, key: str) -> str:
        """Return how it says a global; torch's made-up key for the builtins gets a plain name."""
        space = self._fn.__globals__
        if str(key).startswith(BUILTINS_DICT) and type(space.get(key)) is dict:
            return self.bind("builtins", space[key])
        return f"{self.bind('G', space)}[{key!r}]"

    def all_locals(self) -> str:
        """Return how it says all locals of the frame, as a dict."""
        return f"{self.bind('seen', self._seen)}({self.builtin('locals')}())"

    def builtin(self, name: str) -> str:
        """Return a name for a builtin, also where an argument has its name."""
        return name if name not in self.arguments else self.bind(name, vars(builtins)[name])

    def torchs(self, name: str) -> str:
        """Return a name for what torch calls so in the text of a guard."""
        known = torch_private.guard_names()
        if name in known:
            return self.bind(name, known[name])
        if name == "math":
            return self.bind(name, importlib.import_module(name))
        if name in vars(builtins):
            return self.builtin(name)
        raise _NoPython

    def id_of(self, number: int) -> str:
        """Return how it says an id that torch kept; the numbers differ from run to run."""
        if number not in self.ids:
            self.ids.append(number)
        return f"{self.bind('ids', self.ids)}[{self.ids.index(number)}]"

    def type_named(self, kind: type) -> str:
        """Return a name for a class."""
        if vars(builtins).get(kind.__name__) is kind:
            return self.builtin(kind.__name__)
        return self.bind(kind.__name__, kind)

    def type_with_id(self, number: int, words: str) -> str:
        """Return a name for the class with this id that torch's words tell; nothing if unknown."""
        found = CLASS_TEXT.search(words)
        home, _, name = found[1].rpartition(".") if found else ("", "", "")
        kind = vars(sys.modules.get(home or "builtins", builtins)).get(name)
        return self.type_named(kind) if isinstance(kind, type) and id(kind) == number else ""

    def asking(self, kind: str, check, value: str) -> str:
        """Return an expression that asks torch's own guard about a value."""
        while self._asked.get(kind, check) is not check:
            kind += "_"
        self._asked[kind] = check
        return f"{self.bind('in_cpp', self._asked)}[{kind!r}]({value})"


def _is_same(one, other) -> bool:
    return one is other or (type(one) is type(other) is tuple and one == other)


def _python_of(source: str, names: _Names) -> str:
    """Return an expression of torch's in the names of the function; _NoPython if it has others."""
    tree = ast.parse(source.strip(), mode="eval")
    return ast.unparse(_Renamed(names).visit(tree))


class _Renamed(ast.NodeTransformer):
    def __init__(self, names: _Names):
        self.names = names

    def visit_Subscript(self, node):
        where, key = node.value, node.slice
        if isinstance(where, ast.Name) and where.id in ("L", "G") and isinstance(key, ast.Constant):
            found = self.names.local if where.id == "L" else self.names.of_globals
            return ast.parse(found(key.value), mode="eval").body
        return self.generic_visit(node)

    def visit_Name(self, node):
        return ast.Name(self.names.torchs(node.id), ast.Load())


# ------------------------------------------------------------------ one guard, as expressions


def _as_written(leaf, names):
    return tuple(_python_of(check_of(part), names) for part in leaf.parts)


def _constant(leaf, names):
    """`==` between values of one type, as C++ asks; the constant must be one that can be read."""
    compared = ast.parse(check_of(leaf.parts[0]), mode="eval").body
    if not (isinstance(compared, ast.Compare) and isinstance(compared.ops[0], ast.Eq)):
        raise _NoPython
    right = ast.unparse(compared.comparators[0])
    try:
        constant = eval(right, dict(torch_private.guard_names()))
    except Exception:
        raise _NoPython from None
    if not leaf.check(constant):
        raise _NoPython
    value, kind = _python_of(ast.unparse(compared.left), names), names.type_named(type(constant))
    return _typed(value, kind, names), f"{value} == {_python_of(right, names)}"


def _one_of_a_kind(word: str):
    return lambda leaf, names: (f"{_python_of(leaf.source, names)} is {word}",)


def _identity(leaf, names):
    found = IDENTITY.fullmatch(check_of(leaf.parts[0]))
    if found is None:
        raise _NoPython
    value, number = _python_of(found[2], names), int(found[3])
    if found[1] == "___check_type_id":
        if kind := names.type_with_id(number, leaf.parts[0]):
            return (_typed(value, kind, names),)
        value = f"{names.builtin('type')}({value})"
    return (f"{names.builtin('id')}({value}) == {names.id_of(number)}",)


def _typed(value: str, kind: str, names) -> str:
    return f"{names.builtin('type')}({value}) is {kind}"


def _length(leaf, names):
    """Torch writes `not x` for a length of none, and does not ask for a dict where it means one."""
    tree = ast.parse(check_of(leaf.parts[0]), mode="eval").body
    value, many = _python_of(leaf.source, names), 0
    if isinstance(tree, ast.Compare) and isinstance(tree.comparators[0], ast.Constant):
        many = tree.comparators[0].value
    elif not isinstance(tree, ast.UnaryOp):
        raise _NoPython
    length = f"{names.builtin('len')}({value}) == {many}"
    if leaf.kind != "DICT_LENGTH":
        return (length,)
    return f"{names.builtin('isinstance')}({value}, {names.builtin('dict')})", length


def _tensor(leaf, names):
    found = TENSOR.match(check_of(leaf.parts[0]))
    keys = re.search(r"DispatchKeySet\((.*?)\)", leaf.parts[0])
    device = re.search(r"device=(\w+)", leaf.parts[0])
    if not found or not keys or found[1] not in PLAIN_TENSORS:
        raise _NoPython
    kind, dtype, grad, size, stride = found.groups()
    value, torch = _python_of(leaf.source, names), names.torchs("torch")
    return (
        _typed(value, PLAIN_TENSORS[kind].replace("torch", torch, 1), names),
        f"{names.bind('keys', torch_private.keys_now)}({value}) == {keys[1]!r}",
        f"{value}.dtype == {torch}.{dtype}",
        f"{value}.device.index {'is' if device[1] == 'None' else '=='} {device[1]}",
        f"{value}.requires_grad is {grad}",
        *_each(f"{value}.shape", size, names),
        *_each(f"{value}.stride()", stride, names),
    )


def _each(value: str, expected: str, names) -> tuple[str, ...]:
    """Return checks of a size or a stride; a number that torch gives as None may be any."""
    numbers = [number.strip() for number in expected.split(",") if number.strip()]
    if "None" not in numbers:
        return (f"{value} == ({', '.join(numbers)}{',' * (len(numbers) == 1)})",)
    known = [f"{value}[{at}] == {n}" for at, n in enumerate(numbers) if n != "None"]
    return (f"{names.builtin('len')}({value}) == {len(numbers)}", *known)


def _marks(leaf, names):
    """None of the marks is there. Where one was, at compilation, the guard in C++ is asked."""
    found = [MARK.fullmatch(check_of(part)) for part in leaf.parts]
    if not all(one and one[1] == leaf.source for one in found):
        raise _NoPython
    value = _python_of(leaf.source, names)
    marks = names.bind("marks", tuple(one[2] for one in found))
    mark = next(name for name in ("mark", "mark_") if name not in names.arguments)
    has, no = names.builtin("hasattr"), names.builtin("any")
    return (f"not {no}({has}({value}, {mark}) for {mark} in {marks})",)


def _different(leaf, names):
    found = ALIASING.fullmatch(check_of(leaf.parts[0]))
    if found is None:
        raise _NoPython
    call = ast.parse(f"f({found[1]})", mode="eval").body
    values = [_python_of(ast.unparse(each), names) for each in call.args]
    ids = ", ".join(f"{names.builtin('id')}({value})" for value in values)
    return (f"{names.builtin('len')}({{{ids}}}) == {len(values)}",)


_WRITTEN = {
    "EQUALS_MATCH": _constant,
    "TRUE_MATCH": _one_of_a_kind("True"),
    "FALSE_MATCH": _one_of_a_kind("False"),
    "NONE_MATCH": _one_of_a_kind("None"),
    "TYPE_MATCH": _identity,
    "ID_MATCH": _identity,
    "LENGTH_CHECK": _length,
    "DICT_LENGTH": _length,
    "TENSOR_MATCH": _tensor,
    "DIMENSION_DYNAMIC_MARKING_GUARD": _marks,
    "NO_TENSOR_ALIASING": _different,
    **dict.fromkeys(
        ("NO_HASATTR", "FLOAT_IS_NAN", "DEFAULT_DEVICE", "SHAPE_ENV", "OBJECT_ALIASING"),
        _as_written,
    ),
}
