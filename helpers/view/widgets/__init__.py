"""A script, style sheets and a state -> an anywidget: what a reader can click in a notebook page.
The page and the kernel share the state of a widget. The scripts are those of `bundle/`, and the
style sheets those of this folder.

The sources of the scripts are in `../scripts/`; `python -m tools.bundle_scripts` bundles them.
"""

from functools import cache
from pathlib import Path
from uuid import uuid4

from .. import ink

INTERRUPTED = "This run was interrupted: press the button again for another one."
_HERE = Path(__file__).parent


def make_widget(name: str, styles: str, says: str, state: dict):
    """Return the anywidget of a script.

    If the state has the key `own`, its value becomes the name of the widget's channel to the page.
    With that name, the page asks the kernel whether it still has this widget.

    Parameters
    ----------
    name : str
        The name of its script.
    styles : str
        The names of its style sheets, with spaces between them.
    says : str
        What stands in brackets in its repr, such as `'add', 4 steps`.
    state : dict
        The values that it shares with the page: str, int, bool, list or dict by name.
    """
    types = tuple((key, type(value)) for key, value in state.items())
    if "own" in state:
        channel = uuid4().hex
        state = {**state, "own": channel, "model_id": channel}
    # The class depends on the types of the state, because each value becomes a trait.
    widget = _make_widget_class(name, styles, types)(**state)
    widget.says_in_repr = says
    return widget


@cache
def _make_widget_class(name: str, styles: str, types: tuple) -> type:
    """Return the class of a widget: its script, its style sheets, and its traits.

    `name` and `styles` are those of `make_widget`. `types` has a pair for each value of the state:
    its name and its Python type. The class is cached, because all widgets of one kind share it.
    """
    import anywidget
    import traitlets

    traits = {
        str: traitlets.Unicode,
        int: traitlets.Int,
        bool: traitlets.Bool,
        list: traitlets.List,
        dict: traitlets.Dict,
    }

    class PatientWidget(anywidget.AnyWidget):
        def __init__(self, **state):
            """Open the channel to the page; its messages wait until the running cell ends."""
            super().__init__(**state)
            wait_for_cell(self.comm)

        def __repr__(self) -> str:
            return f"{type(self).__name__}({self.says_in_repr})"

    attributes = {key: traits[kind]().tag(sync=True) for key, kind in types}
    sheets = [read_widget_file(f"{sheet}.css") for sheet in styles.split()]
    attributes["_esm"] = read_script(name)
    attributes["_css"] = "\n".join([ink.render_stylesheet(), *sheets])
    attributes["__module__"] = __name__
    return type(f"{name.title()}Widget", (PatientWidget,), attributes)


def wait_for_cell(comm) -> None:
    """Make each message of the page wait until the cell that runs has ended.

    `comm` is the channel between the kernel and the page. Without this, ipykernel would handle a
    message in a subshell: another thread, which *Interrupt* does not reach. ipykernel asks the comm
    in which subshell to handle a message (kernelbase.py); None means the main thread.
    """

    def choose_main_thread(data, subshell) -> None:
        """Return None, the main thread, for each message."""
        return None

    if comm is not None:  # there is none outside a kernel
        comm._reply_subshell_for = choose_main_thread


def read_widget_file(name: str) -> str:
    """Return a file of this folder."""
    return (_HERE / name).read_text(encoding="utf-8")


def read_script(name: str) -> str:
    """Return the bundle of a script."""
    return read_widget_file(f"bundle/{name}.js")
