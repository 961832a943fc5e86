"""A right answer -> the same answer with a function that does not end, prints or grows for ever."""

import ast

SPOILERS = {
    "endless": "while True: pass",
    "sleeping": "import time; time.sleep(3600)",
    "printing": "while True: print('and again')",
    "growing": "grown = []\nwhile True: grown.append('x' * 100_000 + str(len(grown)))",
    "catching": "while True:\n  try: sum(range(9))\n  except BaseException: pass",
}
# Nothing in its process can stop this: it is only for answers that are rehearsed.
IN_C = "import itertools; sum(itertools.count())"
VALUE = """
class Endless(dict):
    def _go_on(self, *given):
        {body}
    __iter__ = __getitem__ = __len__ = __eq__ = __contains__ = get = keys = items = values = _go_on
    __hash__ = None
{names} = {endless}
"""


def spoilt(solution: str, body: str, turn: int = 0) -> str:
    """Return the answer with `body` at the start of one of its functions: the turn-th, in a circle.

    An answer without functions becomes an object whose methods are all like that.
    """
    tree = ast.parse(solution)
    places = _places(tree)
    if not places:
        return _as_value(tree, body)
    statements = ast.parse(body).body
    text, function = places[turn % len(places)]
    function.body[:0] = statements
    if text is not None:
        node, program = text
        node.value = ast.unparse(ast.fix_missing_locations(program))
    return ast.unparse(ast.fix_missing_locations(tree))


def _places(tree) -> list[tuple]:
    """Return the functions, each with the text that it stands in, and the program in that."""
    found = [(None, node) for node in _functions(tree)]
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and "def " in node.value:
            program = ast.parse(node.value)
            found += [((node, program), function) for function in _functions(program)]
    return found


def _functions(tree):
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]


def _as_value(tree, body: str) -> str:
    [*_, last] = [node for node in tree.body if isinstance(node, ast.Assign)]
    target = last.targets[0]
    many = len(target.elts) if isinstance(target, ast.Tuple) else 1
    inner = body.replace("\n", "\n        ")
    endless = ", ".join(["Endless()"] * many)
    return VALUE.format(body=inner, names=ast.unparse(target).strip("()"), endless=endless)
