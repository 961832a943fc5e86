"""Shows one statement part by part, as each stage of CPython's compiler sees it. A part such as `x
+ 1` has a text, an AST node, perhaps an entry in the symbol table, and an instruction.
"""

import ast
import dis
from dataclasses import dataclass
from symtable import SymbolTable
from types import CodeType

from helpers.exhibit import Exhibit
from helpers.model.tables import Column, Listing
from helpers.view.table_view import table

TITLE = "One statement, from text to instructions"
COLUMNS = (
    Column("part", "part"),
    Column("text", "text", code=True),
    Column("node", "AST node"),
    Column("scope", "symbol table"),
    Column("instruction", "instruction", code=True),
    Column("place", "line, columns"),
)


@dataclass(frozen=True)
class StatementPart:
    """One part of a statement, as each stage of the compiler sees it."""

    #: The number of the part, from 1, in the order of the instructions.
    part: int
    #: Its source.
    text: str
    #: The type of its AST node, with the numbers of the parts that the node contains.
    node: str
    #: "free", "local" or "global" for a name, else "".
    scope: str
    #: Its instruction, with the offset.
    instruction: str
    #: Its line and columns.
    place: str


def show_parts(text: str, tree: ast.AST, names: SymbolTable, code: CodeType) -> Exhibit:
    """Show a statement of `text` part by part, in the order of its instructions in `code`.

    A node and an instruction belong together if they have the same position.

    Parameters
    ----------
    text
        The source in which the statement is.
    tree
        The AST of the statement.
    names
        The symbol table of the enclosing function.
    code
        The code object that contains the statement's instructions.
    """
    nodes_by_position = {}  # (line, end line, column, end column) -> node
    for node in ast.walk(tree):
        if hasattr(node, "lineno"):
            # `walk` yields an inner node after the outer one. So it replaces an outer node that has
            # the same position.
            nodes_by_position[_read_position(node)] = node

    instructions = [
        instruction
        for instruction in dis.get_instructions(code)
        if instruction.positions in nodes_by_position
    ]
    numbers = {}  # node -> the number of its part
    for number, instruction in enumerate(instructions, 1):
        numbers[nodes_by_position[instruction.positions]] = number

    parts = []
    for number, instruction in enumerate(instructions, 1):
        node = nodes_by_position[instruction.positions]
        position = instruction.positions
        part = StatementPart(
            part=number,
            text=ast.get_source_segment(text, node),
            node=_write_node(node, numbers),
            scope=_read_scope(names, node.id) if type(node) is ast.Name else "",
            instruction=f"{instruction.offset} {instruction.opname} {instruction.argrepr}".rstrip(),
            place=f"{position.lineno}, {position.col_offset} to {position.end_col_offset}",
        )
        parts.append(part)
    return Exhibit(Listing(TITLE, COLUMNS, tuple(parts)), table)


def _read_position(node: ast.AST) -> tuple[int, int, int, int]:
    """Return the position of a node in the order of `dis.Positions`, to which it can be equal."""
    return node.lineno, node.end_lineno, node.col_offset, node.end_col_offset


def _write_node(node: ast.AST, numbers: dict[ast.AST, int]) -> str:
    """Return a node's type and its children, such as "BinOp 1 Add 2".

    A child that is a part is named by the part's number, another one by its type.
    """
    words = [type(node).__name__]
    for child in ast.iter_child_nodes(node):
        if type(child) is not ast.Load:  # each name that is read has this child, which says little
            words.append(str(numbers.get(child, type(child).__name__)))
    return " ".join(words)


def _read_scope(names: SymbolTable, name: str) -> str:
    """Return "free", "local" or "global" for a name of the enclosing function."""
    symbol = names.lookup(name)
    if symbol.is_free():
        return "free"
    return "local" if symbol.is_local() else "global"
