"""The verbs' docstrings and an example of each -> the reference page, run and stored.

`python -m tests.draw_instruments` after a change; `tests/test_instruments.py` holds the page to it.
"""

import inspect
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

import helpers
from helpers.model.spine import SPINE
from tests.instrument_examples import EXAMPLE, LISTED, SECTIONS, SETUP
from tests.strip_views import strip

PAGE = Path(__file__).parents[1] / "notebooks" / "instruments.ipynb"
VOLATILE = {  # verb -> an assert on what does not change
    "watch_tracers": 'assert tracers.model.ratio("sys.settrace: calls") > 0',
    "watch_race": 'assert race.model.saw("ResourceVariable")',
    "watch_costs": 'assert costs.model.ratio("twice") > 0',
}
OPENING = """\
# Instruments for your own code

A reference page, not a chapter: every verb that looks at code of yours, with its words and one \
example, by the seam at which it looks. Put your own function in place of `scale`. The chapters \
say why each picture looks as it does: [start here](00_start_here.ipynb).

`show_…` looks at a thing at rest; `watch_…` runs it and records. Each gives an exhibit: the last \
expression of a cell draws it, `print` gives its text, `.model` the same facts as data, and \
`help(show_bytecode)` these words."""
INDEX = """\
## From symptom to verb

| what you see | ask |
| --- | --- |
| a patch does not take; somebody calls the old function | `show_bindings`, then `watch_callers` |
| two names, and you do not know whether one object | `show_names`, `watch_names` |
| a `tf.function` traces again and again | `watch_traces`, `would_trace` |
| a list or dict is changed, or is not, after a traced call | `watch_mutations` |
| a graph computes something else than the code says | `show_autograph`, `show_graph` |
| a line does something that you do not expect | `watch_stack`, `show_bytecode` |
| memory that an exception or a frame keeps alive | `show_traceback`, `show_frame` |
| `torch.compile` is slow, then slower | `watch_recompiles`, `show_guards` |
| `torch.compile` gives no speed at all | `watch_breaks`, `watch_fixes` |
| compiled code answers for a value that has changed | `show_guards`, `guard_function` |
| an op is missing in a log, or one is there that you did not call | `watch_ops`, `watch_call` |
| a gradient is None, or not what you expect | `show_grad_fn`, `watch_ops` |
| one call, and no idea who runs it | `show_journey`, `show_interceptions` |
| code that may kill the process | `watch_in_child` |"""
ALONE = """\
## Away from the course

`pip install .` in the folder of the course installs `helpers` alone, without JupyterLab and \
without a framework; `pip install ".[torch]"`, `".[tensorflow]"` and `".[lab]"` add them. A verb \
whose framework is missing says so in one sentence.

Tried: this page in IPython in a terminal, which prints the text of each exhibit, and each \
exhibit's HTML with its scripts taken out, which is what a notebook shows that draws no widgets, \
such as VS Code's without their renderer: all is there but the buttons to step with."""
LAST = """\
## What shows the course's own material

These look at systems that the chapters bring; you meet them there.

| verb | |
| --- | --- |
{rows}

Where next: [start here](00_start_here.ipynb), or a chapter above."""


def heading(number: int) -> str:
    """Return the title of a section, and where its chapter is."""
    if not number:
        return "## At no one seam"
    here = SPINE[number - 1]
    words = f"## {number} · {here.name}\n\nHere {here.happens}: [{here.title}]({here.file}.ipynb)."
    return (
        words
        if SECTIONS[number]
        else f"{words} Its verbs show the course's own runtime: see the end."
    )


def first_words(name: str) -> str:
    """Return the first paragraph of a verb's docstring on one line."""
    return " ".join(inspect.getdoc(getattr(helpers, name)).partition("\n\n")[0].split())


def words(name: str) -> str:
    """Return what stands above an example: how the verb is called, and its docstring."""
    verb = getattr(helpers, name)
    bare = [p.replace(annotation=p.empty) for p in inspect.signature(verb).parameters.values()]
    call = f"{name}{inspect.Signature(bare)}"
    return f"### {name}\n\n```python\n{call}\n```\n\n{inspect.getdoc(verb)}"


def page():
    """Return the page without outputs."""
    cells = [
        new_markdown_cell(OPENING, id="opening"),
        new_markdown_cell(INDEX, id="index"),
        new_code_cell(SETUP, id="setup"),
        new_markdown_cell("The running example takes numbers and tensors.", id="the-example"),
        new_code_cell(EXAMPLE, id="example"),
    ]
    for number, examples in SECTIONS.items():
        cells.append(new_markdown_cell(heading(number), id=f"seam-{number}"))
        for name, source in examples.items():
            cells.append(new_markdown_cell(words(name), id=f"words-{name}"))
            cells.append(new_code_cell(source, id=name))
            if name in VOLATILE:
                cells[-1].metadata["tags"] = ["nbval-ignore-output"]
                cells.append(new_code_cell(VOLATILE[name], id=f"assert-{name}"))
    rows = "\n".join(f"| `{name}` | {first_words(name)} |" for name in LISTED)
    cells.append(new_markdown_cell(ALONE, id="alone"))
    cells.append(new_markdown_cell(LAST.format(rows=rows), id="last"))
    language = {"name": "python", "file_extension": ".py", "mimetype": "text/x-python"}
    kernel = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    return new_notebook(cells=cells, metadata={"kernelspec": kernel, "language_info": language})


def main() -> None:
    """Run the page in its folder and write it."""
    from nbclient import NotebookClient

    drawn = page()
    place = {"metadata": {"path": str(PAGE.parent)}}
    NotebookClient(drawn, timeout=120, kernel_name="python3", resources=place).execute()
    strip(drawn)
    drawn.metadata = page().metadata  # without the state of widgets
    for cell in drawn.cells:
        cell.metadata.pop("execution", None)
    nbformat.write(drawn, PAGE)


if __name__ == "__main__":
    main()
