"""One guard of torch's -> Python expressions that say the same, and run.

Torch writes a text beside each guard; what C++ checks is often more (`L['n'] == 2` asks for the
type as well; torch/csrc/dynamo/guards.cpp). A text that is not known to say it all is not used:
the expression then asks the guard itself.
"""

import ast
import re

from helpers.capture.torch.guards.names import Names, NoPython
from helpers.capture.torch.guards.text import ALIASING, TENSOR, check_of
from helpers.capture.torch.guards.tree import BETWEEN, Leaf
from helpers.internals import torch_private

IDENTITY = re.compile(r"(___check_(?:obj|type)_id)\((.*), (\d+)\)(?:, type=.*)?", re.DOTALL)
MARK = re.compile(r"hasattr\((.*), '(\w+)'\) == False", re.DOTALL)
PLAIN_TENSORS = {"Tensor": "torch.Tensor", "Parameter": "torch.nn.Parameter"}


def expressions(leaf: Leaf, names: Names) -> tuple[tuple[str, ...], bool]:
    """Return expressions that all hold where the guard holds, and whether they ask it for that.

    NoPython if the value that it looks at cannot be reached from Python.
    """
    write = _WRITTEN.get(leaf.kind)
    if write is not None:
        try:
            return write(leaf, names), True
        except (NoPython, SyntaxError):
            pass
    return (names.asking(leaf.kind, leaf.check, _value(leaf, names)),), False


def _value(leaf: Leaf, names: Names) -> str:
    whole = leaf.source in ("L", BETWEEN)
    return names.all_locals() if whole else python_of(leaf.source, names)


def python_of(source: str, names: Names) -> str:
    """Return an expression of torch's in the names of the function; NoPython if it has others."""
    tree = ast.parse(source.strip(), mode="eval")
    return ast.unparse(_Renamed(names).visit(tree))


class _Renamed(ast.NodeTransformer):
    def __init__(self, names: Names):
        self.names = names

    def visit_Subscript(self, node):
        where, key = node.value, node.slice
        if isinstance(where, ast.Name) and where.id in ("L", "G") and isinstance(key, ast.Constant):
            found = self.names.local if where.id == "L" else self.names.of_globals
            return ast.parse(found(key.value), mode="eval").body
        return self.generic_visit(node)

    def visit_Name(self, node):
        return ast.Name(self.names.torchs(node.id), ast.Load())


def _as_written(leaf, names):
    return tuple(python_of(check_of(part), names) for part in leaf.parts)


def _constant(leaf, names):
    """`==` between values of one type, as C++ asks; the constant must be one that can be read."""
    text = check_of(leaf.parts[0])
    compared = ast.parse(text, mode="eval").body
    if not (isinstance(compared, ast.Compare) and isinstance(compared.ops[0], ast.Eq)):
        raise NoPython
    right = ast.unparse(compared.comparators[0])
    try:
        constant = eval(right, dict(torch_private.guard_names()))
    except Exception:
        raise NoPython from None
    if not leaf.check(constant):
        raise NoPython
    value = python_of(ast.unparse(compared.left), names)
    kind = names.type_named(type(constant))
    return (_typed(value, kind, names), f"{value} == {python_of(right, names)}")


def _one_of_a_kind(word: str):
    return lambda leaf, names: (f"{python_of(leaf.source, names)} is {word}",)


def _identity(leaf, names):
    found = IDENTITY.fullmatch(check_of(leaf.parts[0]))
    if found is None:
        raise NoPython
    value, number = python_of(found[2], names), int(found[3])
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
    value, many = python_of(leaf.source, names), 0
    if isinstance(tree, ast.Compare) and isinstance(tree.comparators[0], ast.Constant):
        many = tree.comparators[0].value
    elif not isinstance(tree, ast.UnaryOp):
        raise NoPython
    length = f"{names.builtin('len')}({value}) == {many}"
    if leaf.kind != "DICT_LENGTH":
        return (length,)
    return (f"{names.builtin('isinstance')}({value}, {names.builtin('dict')})", length)


def _tensor(leaf, names):
    found = TENSOR.match(check_of(leaf.parts[0]))
    keys = re.search(r"DispatchKeySet\((.*?)\)", leaf.parts[0])
    device = re.search(r"device=(\w+)", leaf.parts[0])
    if not found or not keys or found[1] not in PLAIN_TENSORS:
        raise NoPython
    kind, dtype, grad, size, stride = found.groups()
    value, torch = python_of(leaf.source, names), names.torchs("torch")
    given = names.bind("keys", dispatch_keys)
    return (
        _typed(value, PLAIN_TENSORS[kind].replace("torch", torch, 1), names),
        f"{given}({value}) == {keys[1]!r}",
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


def dispatch_keys(tensor) -> str:
    """Return which dispatch keys a tensor has in this thread now, as torch writes them."""
    added, taken = torch_private.included_keys(), torch_private.excluded_keys()
    now = (torch_private.dispatch_keys(tensor) | added) - taken
    return str(now).removeprefix("DispatchKeySet(")[:-1]


def _marks(leaf, names):
    """None of the marks is there. Where one was, at compilation, the guard in C++ is asked."""
    found = [MARK.fullmatch(check_of(part)) for part in leaf.parts]
    if not all(one and one[1] == leaf.source for one in found):
        raise NoPython
    value = python_of(leaf.source, names)
    marks = names.bind("marks", tuple(one[2] for one in found))
    has, no = names.builtin("hasattr"), names.builtin("any")
    mark = next(name for name in ("mark", "mark_") if name not in names.arguments)
    return (f"not {no}({has}({value}, {mark}) for {mark} in {marks})",)


def _different(leaf, names):
    found = ALIASING.fullmatch(check_of(leaf.parts[0]))
    if found is None:
        raise NoPython
    call = ast.parse(f"f({found[1]})", mode="eval").body
    values = [python_of(ast.unparse(each), names) for each in call.args]
    ids = ", ".join(f"{names.builtin('id')}({value})" for value in values)
    return (f"{names.builtin('len')}({{{ids}}}) == {len(values)}",)


def _contains(leaf, names):
    return tuple(_dict_contains(check_of(part), names) for part in leaf.parts)


def _dict_contains(text: str, names) -> str:
    """Return `key in d`, asked of the dict itself, whatever its class makes of `in`."""
    tree = ast.parse(text, mode="eval").body
    no = isinstance(tree, ast.UnaryOp)
    call = tree.operand if no else tree
    if not isinstance(call, ast.Call) or len(call.args) != 2:
        raise NoPython
    key, space = (python_of(ast.unparse(each), names) for each in call.args)
    return f"{'not ' * no}{names.builtin('dict')}.__contains__({space}, {key})"


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
    "DICT_CONTAINS": _contains,
    "NO_HASATTR": _as_written,
    "FLOAT_IS_NAN": _as_written,
    "DEFAULT_DEVICE": _as_written,
    "SHAPE_ENV": _as_written,
    "OBJECT_ALIASING": _as_written,
}
