"""Scripts and styles of this folder, and traits -> the class of an anywidget, made when shown."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

from helpers.view import ink

INTERRUPTED = "This run was interrupted: press the button again for another one."
_HERE = Path(__file__).parent


def widget_class(
    name: str,
    styles: tuple[str, ...],
    says: Callable,
    traits: Callable,
    scripts: tuple[str, ...] = (),
) -> Callable:
    """Return a function that returns the widget's class, made once, when it is first asked for.

    `name`: of its own script, without `.js`; dom.js and other `scripts` go before it. `styles`: CSS
    files; the variables of `ink` go before them. `says(widget)` is what its repr says after its
    name; `traits(traitlets)` returns name -> trait, all of which the page shares.
    """

    @cache
    def made() -> type:
        import anywidget
        import traitlets

        class InTurn(anywidget.AnyWidget):
            def __init__(self, **given):
                super().__init__(**given)
                in_turn(self.comm)

        return type(
            f"{name.title()}Widget",
            (InTurn,),
            {
                "__module__": __name__,
                "_esm": "\n".join(map(read, ("dom.js", *scripts, f"{name}.js"))),
                "_css": "\n".join((ink.stylesheet(), *map(read, styles))),
                "__repr__": lambda widget: f"{name.title()}Widget({says(widget)})",
                **{key: trait.tag(sync=True) for key, trait in traits(traitlets).items()},
            },
        )

    return made


def in_turn(comm) -> None:
    """Let what the page sends wait for the cell that runs, as it did before ipykernel 7.

    JupyterLab sends it to a thread of its own (a subshell): beside a cell, where *Interrupt* does
    not reach it, and what a verb puts back there would be taken from the cell. ipykernel asks the
    comm where to go (kernelbase.py: shell_channel_thread_main); None is the main thread.
    """
    if comm is not None:
        comm._reply_subshell_for = lambda data, subshell: None


def read(name: str) -> str:
    """Return a file of this folder."""
    return (_HERE / name).read_text(encoding="utf-8")
