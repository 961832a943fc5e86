"""Nothing -> a notebook for the book: hostile exhibits, a sandbox and a check."""

import nbformat

from tests.browser import gallery

SANDBOX = """
from helpers.model.question_records import Control, Sandbox
from helpers.study.foretelling import GuessingSandbox

controls = (
    Control("sign", ("+", "-", "none")),
    Control("size", ("1", "2"), "sign", ("+", "-")),
)

class Sign(GuessingSandbox):
    def __init__(self):
        verdicts = "positive", "negative"
        model = Sandbox("Which sign?", "A number.", controls, verdicts, "sandbox.run()")
        super().__init__(model, "it is")

    def _truth(self, picked):
        verdict = "negative" if picked["sign"] == "-" else "positive"
        return verdict, f"was {verdict}.", f"<p>a row of {picked['sign']}{picked['size']}</p>"

    def _code(self, picked):
        return f"f({picked['sign']}{picked['size']})"

Sign()
"""


def build() -> nbformat.NotebookNode:
    """Return the notebook; it was never run."""
    notebook = gallery.build()
    head = nbformat.v4.new_markdown_cell("# A sample\n\n## Linked\n\n[on](#cell-id=last-cell)")
    check = nbformat.v4.new_code_cell("from helpers import check\ncheck.warm_up(...)")
    last = nbformat.v4.new_markdown_cell("## The last section\n\nIt says *zebra_crossing*.")
    last["id"] = "last-cell"
    sandbox = nbformat.v4.new_code_cell(SANDBOX.strip())
    stub = nbformat.v4.new_code_cell("names = ...")
    notebook.cells = [head, *notebook.cells, sandbox, stub, check, last]
    return notebook
