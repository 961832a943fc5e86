"""What can be clicked: scripts and styles of this folder, and a state that the page shares."""

from functools import cache
from pathlib import Path
from uuid import uuid4

from .. import ink

INTERRUPTED = "This run was interrupted: press the button again for another one."
_HERE = Path(__file__).parent


def make_widget(name: str, styles: str, says: str, state: dict, scripts: str = ""):
    """Return an anywidget; `scripts`: before its own; `says`: in its repr; `state`: the page's.

    A state with `own` is given the name of its channel: by it the page asks the kernel whether it
    still knows this widget.
    """
    kinds = tuple((key, type(value)) for key, value in state.items())
    if "own" in state:
        channel = uuid4().hex
        state = {**state, "own": channel, "model_id": channel}
    made = _class(name, styles, scripts, kinds)(**state)
    made.says_in_repr = says
    return made


@cache
def _class(name: str, styles: str, scripts: str, kinds: tuple) -> type:
    import anywidget
    import traitlets

    traits = {str: traitlets.Unicode, int: traitlets.Int, bool: traitlets.Bool}
    traits |= {list: traitlets.List, dict: traitlets.Dict}

    class InTurn(anywidget.AnyWidget):
        def __init__(self, **given):
            super().__init__(**given)
            wait_for_cell(self.comm)

        def __repr__(self) -> str:
            return f"{type(self).__name__}({self.says_in_repr})"

    parts = {key: traits[kind]().tag(sync=True) for key, kind in kinds}
    parts["_esm"] = "\n".join(read(f"{one}.js") for one in ("dom", *scripts.split(), name))
    sheets = [read(f"{sheet}.css") for sheet in styles.split()]
    parts["_css"] = "\n".join((ink.render_stylesheet(), *sheets))
    return type(f"{name.title()}Widget", (InTurn,), {"__module__": __name__, **parts})


def wait_for_cell(comm) -> None:
    """Let what the page sends wait for the cell that runs: *Interrupt* reaches no subshell.

    ipykernel asks the comm where to go (kernelbase.py); None is the main thread.
    """
    if comm is not None:
        comm._reply_subshell_for = lambda data, subshell: None


def read(name: str) -> str:
    """Return a file of this folder."""
    return (_HERE / name).read_text(encoding="utf-8")
