"""Source of a right answer -> the sources that differ from it in one place, and in which way.

The operators are those of mutation testing (cf. mutmut, cosmic-ray), and a few that beginners at
context managers, loops and references apply by themselves.
"""

import ast
import copy
import difflib
import pickle
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import NamedTuple


class Mutant(NamedTuple):
    """`operator`: what was done; `change`: the lines before and after; `source`: the answer."""

    operator: str
    change: str
    source: str


def mutants(source: str) -> list[Mutant]:
    """Return the mutants of a program, no two with the same source; texts in it are mutated too.

    A text that is itself a program (more than one statement) is mutated as one.
    """
    tree = _written_alike(ast.parse(source))
    plain = ast.unparse(tree)
    found = {}
    for operator, mutated in _mutated(tree):
        text = ast.unparse(ast.fix_missing_locations(mutated))
        if text != plain and _compiles(text):
            found.setdefault(text, Mutant(operator, _change(plain, text), text))
    return list(found.values())


def _written_alike(tree: ast.Module) -> ast.Module:
    """Write the programs in texts as ast does, too: a change then shows what was changed alone."""
    docs = _docstrings(tree)
    for node in ast.walk(tree):
        if id(node) not in docs and _is_program(node):
            node.value = ast.unparse(_written_alike(ast.parse(node.value)))
    return tree


def _compiles(text: str) -> bool:
    # A warning tells of `is` with a literal.
    with warnings.catch_warnings(action="ignore"), suppress(SyntaxError, ValueError):
        return bool(compile(text, "<mutant>", "exec"))
    return False


def _change(before: str, after: str) -> str:
    """Return the lines that differ, sorted; those inside a text that is a program count, too."""
    lines = [text.replace("\\n", "\n").splitlines() for text in (before, after)]
    told = [*difflib.unified_diff(*lines, n=0)][2:]
    parts = [f"{line[0]} {line[1:].strip()}" for line in told if line[0] in "-+"]
    return " | ".join(sorted(parts, key=lambda part: (part[:1] != "-", part)))


def _mutated(tree: ast.Module) -> Iterator[tuple[str, ast.Module]]:
    """Yield (operator, tree) for each place and each operator that fits it."""
    for parent in ast.walk(tree):
        for child in ast.iter_child_nodes(parent):
            child.parent = parent
    docs, kept = _docstrings(tree), pickle.dumps(tree)  # loads() copies in half the time

    def copy_tree(number):
        again = pickle.loads(kept)
        return again, list(ast.walk(again))[number]

    for number, node in enumerate(ast.walk(tree)):
        if id(node) in docs:
            continue
        for operator in (fn for fn, kinds in OPERATORS.items() if isinstance(node, kinds)):
            for turn in range(len(operator(node))):
                again, there = copy_tree(number)
                operator(there)[turn]()
                yield operator.__name__.strip("_").replace("_", " "), again
        if _is_program(node):
            for name, inner in _mutated(ast.parse(node.value)):
                again, there = copy_tree(number)
                there.value = ast.unparse(ast.fix_missing_locations(inner))
                yield name, again


def _put(node, *new) -> None:
    """Put another node in the place of this one, or several where a list has it."""
    for name, value in ast.iter_fields(node.parent):
        if value is node:
            setattr(node.parent, name, new[0])
        elif isinstance(value, list):
            value[:] = [x for item in value for x in (new if item is node else [item])]


def _outwards(node) -> Iterator:
    """Yield what is around a node: its parent, and so on."""
    while node := getattr(node, "parent", None):
        yield node


def _function_of(node):
    functions = ast.FunctionDef | ast.Lambda
    return next((one for one in _outwards(node) if isinstance(one, functions)), None)


def _docstrings(tree) -> set[int]:
    owners = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.ClassDef)]
    docs = [owner.body[0] for owner in owners if ast.get_docstring(owner) is not None]
    return {id(node) for doc in docs for node in ast.walk(doc)}


def _is_program(node) -> bool:
    with suppress(SyntaxError):
        text = node.value if isinstance(node, ast.Constant) else None
        return isinstance(text, str) and "\n" in text and len(ast.parse(text).body) > 1
    return False


# -- operators: each returns the ways in which it can change its place, as functions ---------------

COMPARE = {
    ast.Eq: (ast.NotEq, ast.Is, ast.GtE),
    ast.NotEq: (ast.Eq, ast.IsNot),
    ast.Is: (ast.IsNot, ast.Eq),
    ast.IsNot: (ast.Is, ast.NotEq),
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
BINARY = {
    ast.Add: (ast.Sub, ast.Mult),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Add, ast.Div),
    ast.Div: (ast.Mult, ast.FloorDiv),
    ast.Pow: (ast.Mult,),
    ast.BitOr: (ast.BitAnd,),
    ast.BitAnd: (ast.BitOr,),
}


def _set_each(node, name: str, values) -> list[Callable]:
    return [partial(setattr, node, name, value) for value in values]


def _delete_each(items: list) -> list[Callable]:
    return [partial(items.pop, at) for at in range(len(items))]


def _exchange_each(items: list, among=None) -> list[Callable]:
    def exchange(at):
        items[at], items[at + 1] = items[at + 1], items[at]

    return [partial(exchange, at) for at in (range(len(items) - 1) if among is None else among)]


def _operator_exchanged(node) -> list[Callable]:
    if isinstance(node, ast.Compare):
        ways = [(k, new) for k, old in enumerate(node.ops) for new in COMPARE[type(old)]]
        return [partial(node.ops.__setitem__, k, new()) for k, new in ways]
    if isinstance(node, ast.BoolOp):
        return _set_each(node, "op", [ast.Or() if isinstance(node.op, ast.And) else ast.And()])
    return _set_each(node, "op", [new() for new in BINARY.get(type(node.op), ())])


def _operand_dropped(node) -> list[Callable]:
    if isinstance(node, ast.BoolOp) and len(node.values) > 2:
        return _delete_each(node.values)
    if isinstance(node, ast.BoolOp):
        return [partial(_put, node, value) for value in node.values[::-1]]
    if isinstance(node, ast.BinOp):
        return [partial(_put, node, node.left), partial(_put, node, node.right)]
    constant = isinstance(node.operand, ast.Constant)
    return [] if constant else [partial(_put, node, node.operand)]


def _constant_changed(node) -> list[Callable]:
    value, kind = node.value, type(node.value)
    if isinstance(node.parent, ast.Expr):
        return []
    if kind is bool:
        ways = (not value,)
    elif kind is int:
        ways = (value + 1, value - 1, float(value))
    elif kind is float:
        ways = (value + 0.5, -value) if value else (1.0,)
    elif kind is str and not _is_program(node):
        # A piece of an f-string has none beside it: ast.unparse writes those as they are.
        in_text = isinstance(node.parent, ast.JoinedStr | ast.FormattedValue)
        ways = (f"{value}_x", *(() if in_text else _neighbours(node)))
    else:
        ways = (0,) if value is None and isinstance(node.parent, ast.Compare) else ()
    return _set_each(node, "value", ways)


def _neighbours(node) -> list[str]:
    """Return the other texts of the same list, tuple or row of dict values."""
    parent = node.parent
    beside = parent.values if isinstance(parent, ast.Dict) else getattr(parent, "elts", [])
    if isinstance(parent, ast.Dict) and not any(item is node for item in beside):
        return []
    texts = [n.value for n in beside if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    return [text for text in dict.fromkeys(texts) if text != node.value]


def _statement_dropped(node) -> list[Callable]:
    return [partial(_put, node, ast.Pass())]


def _branch_forced(node) -> list[Callable]:
    if isinstance(node, ast.comprehension):
        return _delete_each(node.ifs)
    return _set_each(node, "test", [ast.Constant(True), ast.Constant(False)])


def _return_changed(node) -> list[Callable]:
    return [] if node.value is None else _set_each(node, "value", [None])


def _early_return(node) -> list[Callable]:
    """Leave a loop after its first pass, or leave its first pass out."""
    rest = ast.parse(f"list({ast.unparse(node.iter)})[1:]", mode="eval").body
    return [partial(node.body.append, ast.Break()), partial(setattr, node, "iter", rest)]


def _finally_weakened(node) -> list[Callable]:
    """Put back after an Exception only, or only where nothing was raised; or swallow what was."""
    last = node.finalbody
    if not last:
        return []

    def handle(caught: list, otherwise: list) -> None:
        node.finalbody = []
        handler = ast.ExceptHandler(ast.Name("Exception", ast.Load()), None, caught)
        node.handlers.append(handler)
        node.orelse += otherwise

    raised = [*copy.deepcopy(last), ast.Raise(None, None)]
    ways = [partial(handle, raised, last), partial(_put, node, *node.body, *last)]
    return [
        *ways,
        partial(handle, last, copy.deepcopy(last)),
        partial(last.append, ast.Return(None)),
    ]


def _exception_changed(node) -> list[Callable]:
    if isinstance(node, ast.ExceptHandler):
        names = "Exception", "BaseException"
        return _set_each(node, "type", [ast.Name(name, ast.Load()) for name in names])
    if not isinstance(node.exc, ast.Call):
        return []
    names = "RuntimeError", "TypeError", "NameError"
    ways = _set_each(node.exc, "func", [ast.Name(name, ast.Load()) for name in names])
    return ways + (_set_each(node, "cause", [None]) if node.cause is not None else [])


def _argument_changed(node) -> list[Callable]:
    """Drop an argument, or exchange it with the next."""
    dropped = _delete_each(node.args) + _delete_each(node.keywords)
    return dropped + _exchange_each(node.args)


def _call_unwrapped(node) -> list[Callable]:
    """Give the one argument in place of the call, or the object in place of its method's result."""
    if isinstance(node.parent, ast.Expr):
        return []
    ways = [*node.args[:1], *([node.func.value] if isinstance(node.func, ast.Attribute) else [])]
    return [partial(_put, node, way) for way in ways]


def _slice_changed(node) -> list[Callable]:
    names = [name for name in ("lower", "upper", "step") if getattr(node, name) is not None]
    return [partial(setattr, node, name, None) for name in names]


def _order_exchanged(node) -> list[Callable]:
    """Exchange two neighbours: statements, items of a tuple, a condition's two results."""
    if isinstance(node, ast.Tuple | ast.List):
        return _exchange_each(node.elts)
    if isinstance(node, ast.IfExp):
        swapped = ast.IfExp(node.test, node.orelse, node.body)
        return [partial(_put, node, swapped)]
    body = node.body
    pairs = [k for k in range(len(body) - 1) if not all(map(_defines, body[k : k + 2]))]
    return _exchange_each(body, pairs)


def _defines(statement) -> bool:
    """Tell whether the order of this statement among its like does not matter."""
    return isinstance(statement, ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef)


def _name_exchanged(node) -> list[Callable]:
    """Read another parameter in place of this one."""
    function = _function_of(node)
    if not isinstance(node.ctx, ast.Load) or function is None:
        return []
    names = [a.arg for a in function.args.args if a.arg != "self"]
    others = [name for name in names if name != node.id] if node.id in names else []
    return _set_each(node, "id", others)


def _default_changed(node) -> list[Callable]:
    """Take a default away."""
    return _delete_each(node.defaults)


def _state_shared(node) -> list[Callable]:
    """Keep a list or a dict that was made in each call from one call to the next."""
    kept = isinstance(node.parent, ast.Assign | ast.Tuple)
    if ast.unparse(node) not in ("[]", "{}") or _function_of(node) is None or not kept:
        return []

    def share():
        made = ast.Assign([ast.Name("shared_state", ast.Store())], copy.deepcopy(node))
        _put(node, ast.Name("shared_state", ast.Load()))
        [*_outwards(node)][-1].body.insert(0, made)

    return [share]


def _decorator_dropped(node) -> list[Callable]:
    return _delete_each(node.decorator_list)


_BODIES = (ast.Module, ast.FunctionDef, ast.ClassDef, ast.For, ast.While, ast.If, ast.With)
_STATEMENTS = (ast.Expr, ast.Assign, ast.AugAssign, ast.Delete, ast.Return, ast.Raise, ast.If)
OPERATORS = {  # operator -> the kinds of nodes that it is tried on
    _operator_exchanged: (ast.Compare, ast.BinOp, ast.AugAssign, ast.BoolOp),
    _operand_dropped: (ast.BoolOp, ast.BinOp, ast.UnaryOp),
    _constant_changed: (ast.Constant,),
    _statement_dropped: (*_STATEMENTS, ast.Continue, ast.Break),
    _branch_forced: (ast.If, ast.IfExp, ast.comprehension),
    _return_changed: (ast.Return, ast.Yield),
    _early_return: (ast.For,),
    _finally_weakened: (ast.Try,),
    _exception_changed: (ast.ExceptHandler, ast.Raise),
    _argument_changed: (ast.Call,),
    _call_unwrapped: (ast.Call,),
    _slice_changed: (ast.Slice,),
    _order_exchanged: (ast.Tuple, ast.List, ast.IfExp, *_BODIES, ast.Try, ast.ExceptHandler),
    _name_exchanged: (ast.Name,),
    _default_changed: (ast.arguments,),
    _state_shared: (ast.List, ast.Dict),
    _decorator_dropped: (ast.FunctionDef,),
}
