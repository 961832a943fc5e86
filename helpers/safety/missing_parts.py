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
HAS_COURSE = (HOUSE / "course").is_dir()
CONSTRAINTS = HOUSE.parent / "constraints.txt"
# The names of the project and of its extras in pyproject.toml.
PROJECT = "whoruns"
EXTRAS = ("torch", "tensorflow", "lab")
FRAMEWORKS = {"tensorflow": "TensorFlow", "torch": "PyTorch"}
PACKAGES = tuple(
    """
    anywidget bytecode ipywidgets jinja2 lazy_loader networkx numpy packaging psutil tabulate
    """.split()  # noqa: SIM905
)
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
    """Return which part is missing, and the cure; "" where the error is about something else.

    The error's cause is looked at, too, and the cause of that.
    """
    visited = set()
    while error is not None and id(error) not in visited:  # an error can be its own cause
        text = _describe_error(error)
        if text:
            return text
        visited.add(id(error))
        error = cause_of(error)
    return ""


@contextmanager
def said_if_missing() -> Iterator[None]:
    """Raise a MissingPart, in a `with` block, where an import finds no framework or package."""
    try:
        yield
    except ModuleNotFoundError as error:
        text = sentence(error)
        if text:
            raise MissingPart(text) from error
        raise


def cure(module: str) -> str:
    """Return what to do where a module is missing: by course.py, or by pip without the course."""
    return CURE if HAS_COURSE else f"{repair(module)}, and start that Python again"


def repair(module: str, *, broken: bool = False) -> str:
    """Return the command that installs a missing module, as a clause that a table has room for.

    `broken`: the module is installed, and its files are to be replaced.
    """
    if HAS_COURSE:
        return "run `python course.py setup`"
    install = "pip install --force-reinstall" if broken else "pip install"
    pins = wanted()
    names = [name for name in distributions(module) if name in pins]
    name = names[0] if names else module
    return f'run `{install} "{name}{pins.get(name, "")}"` for the Python that runs this'


def of_line(line: str) -> str:
    """Return the sentence for the last line of a traceback that another process has printed."""
    match = NOT_FOUND.match(line)
    return _describe_not_installed(match[1]) if match else ""


def _describe_error(error: BaseException) -> str:
    """Return the sentence for an error itself, without its cause; "" if no part is missing."""
    if real_isinstance(error, OneSentence):
        return str(error)
    if real_isinstance(error, ModuleNotFoundError):
        # By ImportError: a class derived from it may have a property `name` of its own.
        text = _describe_not_installed(ImportError.name.__get__(error))
        if text:
            return text
    if real_isinstance(error, NameError):
        return _describe_name_error(error)
    is_torchs = str(type(error).__module__).startswith("torch.")
    if is_torchs and NO_CXX in str(error):
        return f"There is no C++ compiler here, and torch's Inductor needs one: {COMPILER_CURE}."
    return _describe_broken_import(error)


def _describe_name_error(error: NameError) -> str:
    """Return the sentence for an unbound name such as `tf` if its framework is not installed.

    Return "" for any other name.
    """
    name = NameError.name.__get__(error)
    part = NAMES.get(name) if type(name) is str else None
    if part is None or sys.modules.get(part) is not None or util.find_spec(part) is not None:
        return ""
    return _describe_not_installed(part)


def _describe_broken_import(error: BaseException) -> str:
    """Return the sentence for an error that ended the import of a framework, or ""."""
    # The packages whose modules were being run when the error came.
    importing = set()
    for frame, _ in walk_tb(traceback_of(error)):
        if frame.f_code.co_name == "<module>":
            module = str(frame.f_globals.get("__name__"))
            importing.add(module.partition(".")[0])
    for part in FRAMEWORKS:
        # Python removes a module from `sys.modules` if its import fails.
        if part in importing and sys.modules.get(part) is None:
            return unusable(part, error)
    return ""


def _describe_not_installed(module: str | None) -> str:
    """Return the sentence for a module that no import finds; "" if the course does not need it."""
    # An ImportError may have anything as its name.
    if type(module) is not str or (module not in FRAMEWORKS and module not in PACKAGES):
        return ""
    name = FRAMEWORKS.get(module, module)
    if not HAS_COURSE:
        return f"{name} is missing in this Python: {cure(module)}."
    rest = REST if module in FRAMEWORKS else ""
    return f"{name} is missing in this notebook's Python: {cure(module)}{rest}."


def unusable(part: str, error: BaseException) -> str:
    """Return what to say of a framework whose import ended with this error."""
    first_line = str(error).strip().partition("\n")[0]
    reason = f"{real_type_name(error)}: {printable(first_line, 200)}".removesuffix(": ")
    return f"{FRAMEWORKS[part]} cannot be imported ({reason}): {RESTART} {cure(part)}{REST}."


def wanted() -> dict[str, str]:
    """Return package -> its pin, or in the wheel its range; empty where neither is at hand."""
    from packaging.requirements import Requirement

    pins = {}
    for line in _read_requirements():
        if line and not line.startswith("#"):
            requirement = Requirement(line)
            marker = requirement.marker
            if marker is None or any(marker.evaluate({"extra": extra}) for extra in EXTRAS):
                pins[requirement.name] = str(requirement.specifier)
    return pins


def _read_requirements() -> list[str]:
    """Return the lines of the course's pins, or the requirements of the wheel; [] without both."""
    with suppress(metadata.PackageNotFoundError, OSError):
        pinned = CONSTRAINTS.read_text("utf-8").splitlines() if HAS_COURSE else []
        return pinned or metadata.requires(PROJECT) or []
    return []


def distributions(package: str) -> tuple[str, ...]:
    """Return the names under which a package may be installed."""
    if package == "tensorflow":
        return (package, f"{package}-cpu")
    return (package,)


def installed(package: str) -> str:
    """Return the installed version of a package, without its build label, or "".

    2.13.0+cpu is 2.13.0. A version that cannot be read is "unknown".
    """
    for name in distributions(package):
        with suppress(metadata.PackageNotFoundError):
            version = metadata.version(name) or "unknown"  # its METADATA may be gone
            return version.partition("+")[0]
    return ""
