"""An error -> one sentence with the cure, where it says that a part of the course is missing.

The pins are the course's `constraints.txt`; where `helpers` was installed alone, its own extras.
"""

import re
import sys
from contextlib import suppress
from importlib import metadata, util
from pathlib import Path
from traceback import walk_tb

from helpers.safety.arguments import printable, real_type_name

COURSE = Path(__file__).parents[2]
CONSTRAINTS, HAS_COURSE = COURSE / "constraints.txt", (COURSE / "course.py").is_file()
PROJECT, EXTRAS = "who-runs-your-function", ("torch", "tensorflow", "lab")  # pyproject.toml
FRAMEWORKS = {"tensorflow": "TensorFlow", "torch": "PyTorch"}
PACKAGES = ("anywidget", "bytecode", "ipywidgets", "jinja2", "networkx", "numpy", "packaging")
PACKAGES += ("psutil", "tabulate")
NAMES = {"tf": "tensorflow", "torch": "torch"}  # what the notebooks call a framework
CURE = (
    "run `python course.py setup` (delete the folder .venv first if that changes nothing), then "
    "open the notebook with `python course.py lab`"
)
RESTART = "restart the kernel; if that changes nothing,"  # half of a framework may be loaded
REST = "; cells that do not need it run without"
COMPILER_CURE = (
    "install one (`sudo apt install g++` on Debian and Ubuntu, `xcode-select --install` on macOS) "
    "and run this again"
)
NO_CXX = "No working C++ compiler found"  # torch/_inductor/exc.py: InvalidCxxCompiler
NOT_FOUND = re.compile(r"ModuleNotFoundError: No module named '(\w+)'")


class OneSentence:
    """An exception that IPython shows as its message alone, with no frames."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


class MissingPart(OneSentence, RuntimeError):
    """A part of the course is missing; the message says which, and the cure."""


def sentence(error: BaseException | None) -> str:
    """Return which part is missing, and the cure; empty where the error is about something else."""
    while error is not None:
        if words := _sentence_of_one(error):
            return words
        error = error.__cause__
    return ""


def cure(module: str) -> str:
    """Return what to do where a module is missing: by course.py, or by pip without the course."""
    return CURE if HAS_COURSE else f"{repair(module)}, and restart the kernel"


def repair(module: str) -> str:
    """Return the command alone, as a table has room for."""
    if HAS_COURSE:
        return "run `python course.py setup`"
    wanted = _wanted()
    name = next((one for one in distributions(module) if one in wanted), module)
    return f'run `pip install "{name}{wanted.get(name, "")}"` for the Python of this kernel'


def of_line(line: str) -> str:
    """Return the sentence for the last line of a traceback that another process has printed."""
    return _not_installed(found[1]) if (found := NOT_FOUND.match(line)) else ""


def _sentence_of_one(error: BaseException) -> str:
    if isinstance(error, OneSentence):
        return str(error)
    if isinstance(error, ModuleNotFoundError) and (words := _not_installed(error.name)):
        return words
    if isinstance(error, NameError):
        part = NAMES.get(error.name)
        missing = part and sys.modules.get(part) is None and util.find_spec(part) is None
        return _not_installed(part) if missing else ""
    if type(error).__module__.startswith("torch.") and NO_CXX in str(error):
        return f"There is no C++ compiler here, and torch's Inductor needs one: {COMPILER_CURE}."
    frames = [f for f, _ in walk_tb(error.__traceback__) if f.f_code.co_name == "<module>"]
    ended = {str(f.f_globals.get("__name__")).partition(".")[0] for f in frames}  # whose import
    broken = (part for part in FRAMEWORKS if sys.modules.get(part) is None and part in ended)
    return next((unusable(part, error) for part in broken), "")


def _not_installed(module: str | None) -> str:
    if module not in FRAMEWORKS and module not in PACKAGES:
        return ""
    name, rest = FRAMEWORKS.get(module, module), REST if module in FRAMEWORKS else ""
    return f"{name} is missing in this notebook's Python: {cure(module)}{rest}."


def unusable(part: str, error: BaseException) -> str:
    """Return what to say of a framework whose import ended with this error."""
    first = str(error).strip().partition("\n")[0]
    why = f"{real_type_name(error)}: {printable(first, 200)}".removesuffix(": ")
    return f"{FRAMEWORKS[part]} cannot be imported ({why}): {RESTART} {cure(part)}{REST}."


def pins() -> dict[str, str]:
    """Return package -> pinned version for this machine, empty where the pins are not at hand."""
    return {name: wanted[2:] for name, wanted in _wanted().items() if wanted.startswith("==")}


def _wanted() -> dict[str, str]:
    from packaging.requirements import Requirement

    lines = []
    with suppress(metadata.PackageNotFoundError):
        own = CONSTRAINTS.is_file()
        lines = CONSTRAINTS.read_text("utf-8").splitlines() if own else metadata.requires(PROJECT)
    wanted = (Requirement(line) for line in lines or () if line and not line.startswith("#"))
    return {
        one.name: str(one.specifier)
        for one in wanted
        if one.marker is None or any(one.marker.evaluate({"extra": name}) for name in EXTRAS)
    }


def distributions(package: str) -> tuple[str, ...]:
    """Return the names under which a package may be installed."""
    return (package, f"{package}-cpu") if package == "tensorflow" else (package,)


def installed(package: str) -> str:
    """Return its version without its build label (2.13.0+cpu is 2.13.0), or nothing."""
    for name in distributions(package):
        with suppress(metadata.PackageNotFoundError):
            return metadata.version(name).partition("+")[0]
    return ""


def switch_on() -> None:
    """Tell this process's IPython, unless there is none, or it has somebody for its errors."""
    shell = sys.modules["IPython"].get_ipython()
    if shell is not None and not shell.custom_exceptions:
        shell.set_custom_exc((Exception,), _show_error)


def _show_error(shell, kind, error, trace, tb_offset=None) -> None:
    """Show what a cell raised: without its frames where a sentence says it all."""
    with suppress(Exception):  # a slot for what IPython shows, where the error has one
        if words := sentence(error):
            error._render_traceback_ = lambda: [words]
    shell.showtraceback((kind, error, trace), tb_offset=tb_offset, running_compiled_code=True)
