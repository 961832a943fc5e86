"""A piece of source -> a row per part: text, AST node, symbol table entry, instruction."""

import ast
import dis
from collections import namedtuple
from symtable import SymbolTable
from types import CodeType

from helpers.exhibit import Exhibit
from helpers.model.tables import Column, Listing
from helpers.view.table_view import table

TITLE = "One statement, from text to instructions"
NAMES = {"part": "part", "text": "text", "node": "AST node", "scope": "symbol table"}
NAMES |= {"instruction": "instruction", "place": "line, columns"}
Part = namedtuple("Part", NAMES)


def show_parts(text: str, tree: ast.AST, names: SymbolTable, code: CodeType) -> Exhibit:
    """Show a statement of `text` part by part, in the order of its instructions in `code`.

    A node and an instruction belong together if they have the same position. `names` is the symbol
    table of the enclosing function. In a node, the number of a part refers to that part.
    """
    nodes = {_place(node): node for node in ast.walk(tree) if hasattr(node, "lineno")}
    found = [i for i in dis.get_instructions(code) if i.positions in nodes]
    numbers = {nodes[i.positions]: n for n, i in enumerate(found, 1)}
    rows = []
    for n, i in enumerate(found, 1):
        node, at = nodes[i.positions], i.positions
        under = [child for child in ast.iter_child_nodes(node) if type(child) is not ast.Load]
        words = [str(numbers.get(child, type(child).__name__)) for child in under]
        scope = _scope(names, node.id) if type(node) is ast.Name else ""
        place = f"{at.lineno}, {at.col_offset} to {at.end_col_offset}"
        kind = " ".join([type(node).__name__, *words])
        said = f"{i.offset} {i.opname} {i.argrepr}".rstrip()
        rows.append(Part(n, ast.get_source_segment(text, node), kind, scope, said, place))
    columns = (Column(*pair, code=pair[0] in ("text", "instruction")) for pair in NAMES.items())
    return Exhibit(Listing(TITLE, tuple(columns), tuple(rows)), table)


def _place(node: ast.AST) -> tuple[int, int, int, int]:
    return node.lineno, node.end_lineno, node.col_offset, node.end_col_offset


def _scope(names: SymbolTable, name: str) -> str:
    symbol = names.lookup(name)
    return "free" if symbol.is_free() else "local" if symbol.is_local() else "global"
