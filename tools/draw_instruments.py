"""The verbs' docstrings and an example of each -> the reference page, run and stored.

`python -m tools.draw_instruments` after a change; `tests/test_instruments.py` holds the page to it.
"""

import inspect
import re
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

import helpers
from helpers.model.spine import SPINE
from tests.measured import TAG
from tools.instrument_examples import EXAMPLE, LISTED, SECTIONS, SETUP
from tools.strip_views import strip

PAGE = Path(__file__).parents[1] / "notebooks" / "instruments.ipynb"
VOLATILE = {  # verb -> an assert on the part that does not change
    "watch_tracers": 'assert tracers.model.ratio("sys.settrace: calls") > 0',
    "watch_race": 'assert race.model.saw("ResourceVariable")',
    "watch_costs": 'assert costs.model.ratio("twice") > 0',
}
TAGS = {"watch_hooked": ["needs-c-compiler"]}  # tests/needs.py
OPENING = """\
# Instruments for your own code

This is a reference page, not a chapter. It explains every verb that looks at your code, with one \
example each, in the order of the six seams. Put your own function in place of `scale`. The \
chapters explain what each picture shows: [start here](00_start_here.ipynb).

A `show_…` verb shows something as it is. A `watch_…` verb runs your code and records what \
happens. Both return an exhibit. Put it last in a cell to draw it, or `print` it as text. `.model` \
contains the same facts as data, and `help(show_bytecode)` prints the explanation you see here."""
INDEX = """\
## Which verb fits your symptom?

| what you see | ask |
| --- | --- |
| a patch has no effect, because something calls the old function | `show_bindings`, then \
`watch_callers` |
| two names may or may not refer to one object | `show_names`, `watch_names` |
| a `tf.function` traces again and again | `watch_traces`, `would_trace` |
| a traced call changes a list or dict, or unexpectedly does not | `watch_mutations` |
| a graph computes something other than your code says | `show_autograph`, `show_graph` |
| a line does something unexpected | `watch_stack`, `show_bytecode` |
| an exception or a frame keeps memory alive | `show_traceback`, `show_frame` |
| `torch.compile` is slow, then slower | `watch_recompiles`, `show_guards` |
| `torch.compile` makes nothing faster | `watch_breaks`, `watch_fixes` |
| compiled code uses an old value | `show_guards`, `guard_function` |
| a log lacks an op, or lists one you did not call | `watch_ops`, `watch_call` |
| a gradient is None, or not what you expect | `show_grad_fn`, `watch_ops` |
| you do not know what runs a call | `show_journey`, `show_interceptions` |
| the code may kill the process | `watch_in_child` |"""
ALONE = """\
## Can you use the verbs without the course?

Run `pip install .` in the folder of the course. It installs the verbs without JupyterLab and \
without a framework. `pip install ".[torch]"`, `".[tensorflow]"` and `".[lab]"` add them. The \
package is called `whoruns`: `from whoruns import watch_recompiles`. `from whoruns import *` \
imports all of this page. \
`python -m whoruns` lists versions, verbs and what is missing. If a verb's framework is missing, \
its error says so in one sentence.

We tried this page in IPython in a terminal, which prints each exhibit as text. We also tried each \
exhibit's HTML without its scripts. That is what a notebook shows if it draws no widgets, as VS \
Code does without their renderer. Only the buttons for stepping are missing."""
LAST = """\
## Which verbs show the course's own material?

These look at systems that the chapters introduce. You meet them there.

| verb | what it does |
| --- | --- |
{rows}

Where next: [start here](00_start_here.ipynb), or a chapter above."""


def heading(number: int) -> str:
    """Return the title of a section, and a link to its chapter."""
    if not number:
        return "## Verbs that belong to no single seam"
    here = SPINE[number - 1]
    chapter = f"[{here.title}]({here.file}.ipynb)"
    words = f"## {number} · {here.name}\n\nHere {here.happens}. Its chapter: {chapter}."
    own = " Its verbs show the course's own runtime, so they are listed at the end."
    return words if SECTIONS[number] else words + own


def first_words(name: str) -> str:
    """Return the first paragraph of a verb's docstring on one line."""
    return " ".join(inspect.getdoc(getattr(helpers, name)).partition("\n\n")[0].split())


def words(name: str) -> str:
    """Return the text above an example: the verb's signature and its docstring."""
    verb = getattr(helpers, name)
    bare = [p.replace(annotation=p.empty) for p in inspect.signature(verb).parameters.values()]
    call = f"{name}{inspect.Signature(bare)}"
    sections = docstring_sections(inspect.getdoc(verb))
    parts = [f"### {name}", f"```python\n{call}\n```", sections.pop("")]
    sections.pop("Examples", None)  # the cell below is one
    parts += [f"**{title}**\n\n{as_list(entries)}" for title, entries in sections.items()]
    return "\n\n".join(parts)


def docstring_sections(docstring: str) -> dict[str, str]:
    """Return title -> text of the sections of a docstring in NumPy's form; "" is the first."""
    first, *rest = re.split(r"^(\w+)\n-+\n", docstring, flags=re.MULTILINE)
    texts = dict(zip(rest[::2], rest[1::2], strict=True))
    return {title: text.strip() for title, text in {"": first, **texts}.items()}


def as_list(entries: str) -> str:
    """Return the entries of a section as a list in Markdown: `name : type`, and its words."""
    items = []
    for line in entries.splitlines():
        if line.startswith("    "):
            items[-1] += f" {line.strip()}"
        elif line:
            name, _, kind = line.partition(" : ")
            items.append(f"- `{name}` ({kind}):" if kind else f"- `{name}`:")
    return "\n".join(item.removesuffix(":") for item in items)


def page():
    """Return the page without outputs."""
    cells = [new_markdown_cell(OPENING, id="opening"), new_markdown_cell(INDEX, id="index")]
    cells.append(new_code_cell(SETUP, id="setup"))
    said = "All examples use this function. It accepts numbers and tensors."
    cells += [new_markdown_cell(said, id="the-example"), new_code_cell(EXAMPLE, id="example")]
    for number, examples in SECTIONS.items():
        cells.append(new_markdown_cell(heading(number), id=f"seam-{number}"))
        for name, source in examples.items():
            cells.append(new_markdown_cell(words(name), id=f"words-{name}"))
            cells.append(new_code_cell(source, id=name))
            if name in TAGS:
                cells[-1].metadata["tags"] = TAGS[name]
            if name in VOLATILE:
                cells[-1].metadata["tags"] = [TAG]
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
