"""Source of a right answer -> the sources that differ from it in one place, and in which way.

The operators are those of mutation testing (cf. mutmut, cosmic-ray), and a few that beginners at
context managers, loops and references apply by themselves.
"""

import ast
import copy
import difflib
import pickle
import warnings
from collections.abc import Iterator
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
    try:
        with warnings.catch_warnings(action="ignore"):  # `is` with a literal
            compile(text, "<mutant>", "exec")
    except (SyntaxError, ValueError):
        return False
    return True


def _change(before: str, after: str) -> str:
    old, new = _lines(before), _lines(after)
    parts = []
    for kind, a, b, c, d in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind != "equal":
            parts += [f"- {line.strip()}" for line in old[a:b]]
            parts += [f"+ {line.strip()}" for line in new[c:d]]
    return in_any_order(" | ".join(parts))


def in_any_order(change: str) -> str:
    """Return a change with its lines sorted, to be found in whatever order they stand."""
    return " | ".join(sorted(change.split(" | "), key=lambda part: (part[:1] != "-", part)))


def _lines(text: str) -> list[str]:
    """Return the lines, those inside a text that is a program too."""
    return text.replace("\\n", "\n").splitlines()


def _mutated(tree: ast.Module) -> Iterator[tuple[str, ast.Module]]:
    """Yield (operator, tree) for each place and each operator that fits it."""
    docs, kept = _docstrings(tree), pickle.dumps(tree)  # loads() copies in half the time
    for number, node in enumerate(ast.walk(tree)):
        if id(node) in docs:
            continue
        fitting = [fn for fn, kinds in OPERATORS.items() if isinstance(node, kinds)]
        for operator in fitting:
            for turn in range(LARGEST):
                again = pickle.loads(kept)
                place = _Place(again, number)
                if not operator(place, turn):
                    break
                yield operator.__name__.strip("_").replace("_", " "), again
        if _is_program(node):
            for name, inner in _mutated(ast.parse(node.value)):
                again = pickle.loads(kept)
                _Place(again, number).node.value = ast.unparse(ast.fix_missing_locations(inner))
                yield name, again


LARGEST = 40  # turns of one operator at one place


class _Place:
    """A node of a tree, with what stands around it."""

    def __init__(self, tree, number: int):
        self.tree = tree
        nodes = list(ast.walk(tree))
        self.node = nodes[number]
        self.up = {id(child): node for node in nodes for child in ast.iter_child_nodes(node)}

    @property
    def parent(self):
        return self.up.get(id(self.node))

    def put(self, new) -> bool:
        """Put another node in the place of this one."""
        for name, value in ast.iter_fields(self.parent):
            if value is self.node:
                setattr(self.parent, name, new)
                return True
            if isinstance(value, list) and any(item is self.node for item in value):
                value[:] = [new if item is self.node else item for item in value]
                return True
        return False

    def function(self):
        """Return the innermost function around the node."""
        node = self.parent
        while node is not None and not isinstance(node, ast.FunctionDef | ast.Lambda):
            node = self.up.get(id(node))
        return node


def _docstrings(tree) -> set[int]:
    owners = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.ClassDef)]
    return {
        id(node)
        for owner in owners
        if ast.get_docstring(owner) is not None
        for node in ast.walk(owner.body[0])
    }


def _is_program(node) -> bool:
    if not (isinstance(node, ast.Constant) and isinstance(node.value, str) and "\n" in node.value):
        return False
    try:
        return len(ast.parse(node.value).body) > 1
    except SyntaxError:
        return False


def _in_text(place) -> bool:
    """Tell whether a constant is a piece of an f-string: ast.unparse writes those as they are."""
    return isinstance(place.parent, ast.JoinedStr | ast.FormattedValue)


# -- operators: each changes its place in the turn-th way, or returns False ------------------------

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


def _operator_exchanged(place, turn) -> bool:
    node = place.node
    if isinstance(node, ast.Compare):
        ways = [(k, new) for k, old in enumerate(node.ops) for new in COMPARE[type(old)]]
        if turn < len(ways):
            node.ops[ways[turn][0]] = ways[turn][1]()
            return True
    if isinstance(node, ast.BinOp | ast.AugAssign):
        ways = BINARY.get(type(node.op), ())
        if turn < len(ways):
            node.op = ways[turn]()
            return True
    if isinstance(node, ast.BoolOp) and turn == 0:
        node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        return True
    return False


def _operand_dropped(place, turn) -> bool:
    node = place.node
    if isinstance(node, ast.BoolOp) and turn < len(node.values):
        del node.values[turn]
        return place.put(node.values[0]) if len(node.values) == 1 else True
    if isinstance(node, ast.BinOp) and turn < 2:
        return place.put((node.left, node.right)[turn])
    if isinstance(node, ast.UnaryOp) and turn == 0 and not isinstance(node.operand, ast.Constant):
        return place.put(node.operand)
    return False


def _constant_changed(place, turn) -> bool:
    node = place.node
    if not isinstance(node, ast.Constant) or isinstance(place.parent, ast.Expr):
        return False
    value, kind = node.value, type(node.value)
    if kind is bool:
        ways = (not value,)
    elif kind is int:
        ways = (value + 1, value - 1, float(value))
    elif kind is float:
        ways = (value + 0.5, -value) if value else (1.0,)
    elif kind is str and not _is_program(node):
        ways = (f"{value}_x", *(() if _in_text(place) else _neighbours(place)))
    else:
        ways = (0,) if value is None and isinstance(place.parent, ast.Compare) else ()
    if turn >= len(ways):
        return False
    node.value = ways[turn]
    return True


def _neighbours(place) -> list[str]:
    """Return the other texts of the same list, tuple or row of dict values."""
    parent = place.parent
    beside = parent.values if isinstance(parent, ast.Dict) else getattr(parent, "elts", [])
    if isinstance(parent, ast.Dict) and not any(item is place.node for item in beside):
        return []
    texts = [n.value for n in beside if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    return [text for text in dict.fromkeys(texts) if text != place.node.value]


def _statement_dropped(place, turn) -> bool:
    node, parent = place.node, place.parent
    droppable = ast.Expr | ast.Assign | ast.AugAssign | ast.Delete | ast.Return | ast.Raise
    if turn or not isinstance(node, droppable | ast.If | ast.Continue | ast.Break):
        return False
    return parent is not None and place.put(ast.Pass())


def _branch_forced(place, turn) -> bool:
    node = place.node
    if isinstance(node, ast.If | ast.IfExp | ast.While) and turn < 2:
        if isinstance(node, ast.While) and turn == 0:
            return False
        node.test = ast.Constant((True, False)[turn])
        return True
    if isinstance(node, ast.comprehension) and turn < len(node.ifs):
        del node.ifs[turn]
        return True
    return False


def _return_changed(place, turn) -> bool:
    node = place.node
    if isinstance(node, ast.Return) and node.value is not None and turn == 0:
        node.value = None
        return True
    if isinstance(node, ast.Yield) and node.value is not None and turn == 0:
        node.value = None
        return True
    return False


def _early_return(place, turn) -> bool:
    """Leave a loop after its first pass, or leave its first pass out."""
    node = place.node
    if not isinstance(node, ast.For) or turn > 1:
        return False
    if turn == 0:
        node.body.append(ast.Break())
    else:
        node.iter = ast.parse(f"list({ast.unparse(node.iter)})[1:]", mode="eval").body
    return True


def _finally_weakened(place, turn) -> bool:
    """Put back after an Exception only, or only where nothing was raised."""
    node = place.node
    if not isinstance(node, ast.Try) or not node.finalbody or turn > 3:
        return False
    last, node.finalbody = node.finalbody, []
    if turn == 2:  # swallow what was raised
        node.handlers.append(ast.ExceptHandler(ast.Name("Exception", ast.Load()), None, last))
        node.orelse += copy.deepcopy(last)
    elif turn == 3:  # swallow all that was raised
        node.finalbody = [*last, ast.Return(None)]
    elif turn == 1:
        return _inline(place, [*node.body, *last])
    else:
        again = [*copy.deepcopy(last), ast.Raise(None, None)]
        node.handlers.append(ast.ExceptHandler(ast.Name("Exception", ast.Load()), None, again))
        node.orelse += last
    return True


def _inline(place, statements) -> bool:
    for _, value in ast.iter_fields(place.parent):
        if isinstance(value, list) and any(item is place.node for item in value):
            at = next(k for k, item in enumerate(value) if item is place.node)
            value[at : at + 1] = statements
            return True
    return False


def _exception_changed(place, turn) -> bool:
    node = place.node
    if isinstance(node, ast.ExceptHandler) and turn < 2:
        node.type = ast.Name(("Exception", "BaseException")[turn], ast.Load())
        return True
    if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and turn < 3:
        name = ("RuntimeError", "TypeError", "NameError")[turn]
        node.exc.func = ast.Name(name, ast.Load())
        return True
    if isinstance(node, ast.Raise) and node.cause is not None and turn == 3:
        node.cause = None
        return True
    return False


def _argument_changed(place, turn) -> bool:
    """Drop an argument, or exchange it with the next."""
    node = place.node
    if not isinstance(node, ast.Call):
        return False
    args, keywords = node.args, node.keywords
    if turn < len(args):
        del args[turn]
        return True
    turn -= len(args)
    if turn < len(keywords):
        del keywords[turn]
        return True
    turn -= len(keywords)
    if turn < len(args) - 1:
        args[turn], args[turn + 1] = args[turn + 1], args[turn]
        return True
    return False


def _call_unwrapped(place, turn) -> bool:
    """Give the one argument in place of the call, or the object in place of its method's result."""
    node = place.node
    if not isinstance(node, ast.Call) or isinstance(place.parent, ast.Expr):
        return False
    ways = [*node.args[:1], *([node.func.value] if isinstance(node.func, ast.Attribute) else [])]
    return turn < len(ways) and place.put(ways[turn])


def _slice_changed(place, turn) -> bool:
    node = place.node
    if not isinstance(node, ast.Slice):
        return False
    names = [name for name in ("lower", "upper", "step") if getattr(node, name) is not None]
    if turn >= len(names):
        return False
    setattr(node, names[turn], None)
    return True


def _order_exchanged(place, turn) -> bool:
    """Exchange two neighbours: statements, items of a tuple, a condition's two results."""
    node = place.node
    if isinstance(node, ast.Tuple | ast.List) and turn < len(node.elts) - 1:
        node.elts[turn], node.elts[turn + 1] = node.elts[turn + 1], node.elts[turn]
        return True
    if isinstance(node, ast.IfExp) and turn == 0:
        node.body, node.orelse = node.orelse, node.body
        return True
    body = getattr(node, "body", None)
    body = body if isinstance(body, list) else []
    pairs = [k for k in range(len(body) - 1) if not all(map(_defines, body[k : k + 2]))]
    if turn < len(pairs):
        at = pairs[turn]
        body[at], body[at + 1] = body[at + 1], body[at]
        return True
    return False


def _defines(statement) -> bool:
    """Tell whether the order of this statement among its like does not matter."""
    return isinstance(statement, ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef)


def _name_exchanged(place, turn) -> bool:
    """Read another parameter in place of this one."""
    node, function = place.node, place.function()
    if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load) or function is None:
        return False
    names = [a.arg for a in function.args.args if a.arg != "self"]
    others = [name for name in names if name != node.id] if node.id in names else []
    if turn >= len(others):
        return False
    node.id = others[turn]
    return True


def _default_changed(place, turn) -> bool:
    """Take a default away."""
    node = place.node
    if not isinstance(node, ast.arguments) or turn >= len(node.defaults):
        return False
    del node.defaults[turn]
    return True


def _state_shared(place, turn) -> bool:
    """Keep a list or a dict that was made in each call from one call to the next."""
    node = place.node
    empty = ast.unparse(node) in ("[]", "{}") if isinstance(node, ast.expr) else False
    if turn or not empty or place.function() is None:
        return False
    if not isinstance(place.parent, ast.Assign | ast.Tuple):
        return False
    made = ast.Assign([ast.Name("shared_state", ast.Store())], copy.deepcopy(node))
    place.put(ast.Name("shared_state", ast.Load()))
    place.tree.body.insert(0, made)
    return True


def _decorator_dropped(place, turn) -> bool:
    node = place.node
    if not isinstance(node, ast.FunctionDef) or turn >= len(node.decorator_list):
        return False
    del node.decorator_list[turn]
    return True


_BODIES = (ast.Module, ast.FunctionDef, ast.ClassDef, ast.For, ast.While, ast.If, ast.With)
_STATEMENTS = (ast.Expr, ast.Assign, ast.AugAssign, ast.Delete, ast.Return, ast.Raise, ast.If)
OPERATORS = {  # operator -> the kinds of nodes that it is tried on
    _operator_exchanged: (ast.Compare, ast.BinOp, ast.AugAssign, ast.BoolOp),
    _operand_dropped: (ast.BoolOp, ast.BinOp, ast.UnaryOp),
    _constant_changed: (ast.Constant,),
    _statement_dropped: (*_STATEMENTS, ast.Continue, ast.Break),
    _branch_forced: (ast.If, ast.IfExp, ast.While, ast.comprehension),
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
