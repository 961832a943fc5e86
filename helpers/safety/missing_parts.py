"""An error -> one sentence with the cure, where it says that a part of the course is missing.

The pins are the course's `constraints.txt`; where the wheel is installed, its own ranges.
"""

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import metadata, util
from pathlib import Path
from traceback import walk_tb

from .arguments import printable, real_isinstance, real_type_name
from .error_parts import cause_of, traceback_of

HOUSE = Path(__file__).parents[1]
HAS_COURSE, CONSTRAINTS = (HOUSE / "course").is_dir(), HOUSE.parent / "constraints.txt"
PROJECT, EXTRAS = "whoruns", ("torch", "tensorflow", "lab")  # pyproject.toml
FRAMEWORKS = {"tensorflow": "TensorFlow", "torch": "PyTorch"}
PACKAGES = ("anywidget", "bytecode", "ipywidgets", "jinja2", "lazy_loader", "networkx", "numpy")
PACKAGES += ("packaging", "psutil", "tabulate")
NAMES = {"tf": "tensorflow", "torch": "torch"}  # what the notebooks call a framework
CURE = (
    "run `python course.py setup` (delete the folder .venv first if that changes nothing), then "
    "open the notebook with `python course.py lab`"
)
RESTART = "restart the kernel; if that changes nothing,"  # half of a framework may be loaded
REST = "; cells that do not need it still run"
COMPILER_CURE = (
    "install one (`sudo apt install g++` on Debian and Ubuntu, `xcode-select --install` on macOS) "
    "and run this again"
)
NO_CXX = "No working C++ compiler found"  # torch/_inductor/exc.py: InvalidCxxCompiler
NOT_FOUND = re.compile(r"ModuleNotFoundError: No module named '(\w+)'")


class OneSentence:
    """An exception of which IPython shows only the message, with no frames."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


class MissingPart(OneSentence, RuntimeError):
    """A part of the course is missing; the message says which, and the cure."""


def sentence(error: BaseException | None) -> str:
    """Return which part is missing, and the cure; empty where the error is about something else."""
    met = set()
    while error is not None and id(error) not in met:  # an error can be its own cause
        if words := _sentence_of_one(error):
            return words
        met.add(id(error))
        error = cause_of(error)
    return ""


@contextmanager
def said_if_missing() -> Iterator[None]:
    """Raise a MissingPart, in a `with` block, where an import finds no framework or package."""
    try:
        yield
    except ModuleNotFoundError as error:
        if words := sentence(error):
            raise MissingPart(words) from error
        raise


def cure(module: str) -> str:
    """Return what to do where a module is missing: by course.py, or by pip without the course."""
    return CURE if HAS_COURSE else f"{repair(module)}, and start that Python again"


def repair(module: str, *, broken: bool = False) -> str:
    """Return only the command, which is what a table has room for.

    `broken`: the module is installed, and its files are to be replaced.
    """
    if HAS_COURSE:
        return "run `python course.py setup`"
    install = "pip install --force-reinstall" if broken else "pip install"
    found = wanted()
    name = next((one for one in distributions(module) if one in found), module)
    return f'run `{install} "{name}{found.get(name, "")}"` for the Python that runs this'


def of_line(line: str) -> str:
    """Return the sentence for the last line of a traceback that another process has printed."""
    return _not_installed(found[1]) if (found := NOT_FOUND.match(line)) else ""


def _sentence_of_one(error: BaseException) -> str:
    if real_isinstance(error, OneSentence):
        return str(error)
    is_missing = real_isinstance(error, ModuleNotFoundError)
    if is_missing and (words := _not_installed(ImportError.name.__get__(error))):
        return words
    if real_isinstance(error, NameError):
        name = NameError.name.__get__(error)
        part = NAMES.get(name) if type(name) is str else None
        missing = part and sys.modules.get(part) is None and util.find_spec(part) is None
        return _not_installed(part) if missing else ""
    is_torchs = str(type(error).__module__).startswith("torch.")
    if is_torchs and NO_CXX in str(error):
        return f"There is no C++ compiler here, and torch's Inductor needs one: {COMPILER_CURE}."
    frames = [f for f, _ in walk_tb(traceback_of(error)) if f.f_code.co_name == "<module>"]
    ended = {str(f.f_globals.get("__name__")).partition(".")[0] for f in frames}  # whose import
    broken = (part for part in FRAMEWORKS if sys.modules.get(part) is None and part in ended)
    return next((unusable(part, error) for part in broken), "")


def _not_installed(module: str | None) -> str:
    if type(module) is not str or (module not in FRAMEWORKS and module not in PACKAGES):
        return ""
    name, rest = FRAMEWORKS.get(module, module), REST if module in FRAMEWORKS else ""
    where = "this notebook's Python" if HAS_COURSE else "this Python"
    return f"{name} is missing in {where}: {cure(module)}{rest if HAS_COURSE else ''}."


def unusable(part: str, error: BaseException) -> str:
    """Return what to say of a framework whose import ended with this error."""
    first = str(error).strip().partition("\n")[0]
    why = f"{real_type_name(error)}: {printable(first, 200)}".removesuffix(": ")
    return f"{FRAMEWORKS[part]} cannot be imported ({why}): {RESTART} {cure(part)}{REST}."


def wanted() -> dict[str, str]:
    """Return package -> its pin, or in the wheel its range; empty where neither is at hand."""
    from packaging.requirements import Requirement

    lines = []
    with suppress(metadata.PackageNotFoundError, OSError):
        pinned = HAS_COURSE and CONSTRAINTS.read_text("utf-8").splitlines()
        lines = pinned or metadata.requires(PROJECT)
    needs = (Requirement(line) for line in lines or () if line and not line.startswith("#"))
    return {
        one.name: str(one.specifier)
        for one in needs
        if one.marker is None or any(one.marker.evaluate({"extra": name}) for name in EXTRAS)
    }


def distributions(package: str) -> tuple[str, ...]:
    """Return the names under which a package may be installed."""
    return (package, f"{package}-cpu") if package == "tensorflow" else (package,)


def installed(package: str) -> str:
    """Return its version without its build label (2.13.0+cpu is 2.13.0), or nothing."""
    for name in distributions(package):
        with suppress(metadata.PackageNotFoundError):
            version = metadata.version(name) or "unknown"  # its METADATA may be gone
            return version.partition("+")[0]
    return ""
