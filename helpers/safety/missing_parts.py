"""Say in one sentence how to install what is missing, for an error about a missing package.
A *part* is something that the course needs: a framework, another package, or a C++ compiler. The
versions to install are in the course's `constraints.txt`. The wheel, which is this package without
the course, has ranges of versions in its own metadata.
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
FRAMEWORKS = {"tensorflow": "TensorFlow", "torch": "PyTorch"}  # module -> name in sentences
PACKAGES = tuple(
    """
    anywidget bytecode ipywidgets jinja2 lazy_loader networkx numpy packaging psutil tabulate
    """.split()  # noqa: SIM905
)
NAMES = {"tf": "tensorflow", "torch": "torch"}  # variable in the notebooks -> module
CURE = (
    "run `python course.py setup` (delete the folder .venv first if that changes nothing), then "
    "open the notebook with `python course.py lab`"
)
# After a failed import, half of a framework may be loaded, and a new kernel may import it.
RESTART = "restart the kernel; if that changes nothing,"
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


def describe_missing_part(error: BaseException | None) -> str:
    """Return a sentence on the missing part that an error is about, and on how to install it.

    The chain of causes of the error is searched, too. Return "" if neither the error nor a cause is
    about a missing part.
    """
    visited_ids = set()
    while error is not None and id(error) not in visited_ids:  # an error can be its own cause
        text = _describe_error(error)
        if text:
            return text
        visited_ids.add(id(error))
        error = cause_of(error)
    return ""


@contextmanager
def raise_missing_part() -> Iterator[None]:
    """Replace a ModuleNotFoundError of the `with` block by a MissingPart, which says what to do.

    Only for a module that the course needs. The error of any other module stays.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        text = describe_missing_part(error)
        if text:
            raise MissingPart(text) from error
        raise


def describe_cure(module: str) -> str:
    """Return a clause on how to install a module: by course.py, or without the course by pip."""
    return CURE if HAS_COURSE else f"{format_install_advice(module)}, and start that Python again"


def format_install_advice(module: str, *, broken: bool = False) -> str:
    """Return a short clause with the command that installs a module, such as "run `pip …`".

    With `broken`, the module is installed but its files are damaged, and the command replaces them.
    """
    if HAS_COURSE:
        return "run `python course.py setup`"
    install = "pip install --force-reinstall" if broken else "pip install"
    pins = read_pins()
    # A module may be in several distributions, such as tensorflow and tensorflow-cpu.
    required_names = [name for name in list_distribution_names(module) if name in pins]
    name = required_names[0] if required_names else module
    return f'run `{install} "{name}{pins.get(name, "")}"` for the Python that runs this'


def describe_missing_module_line(line: str) -> str:
    """Return the sentence of a missing module for a line that another process has printed.

    `line` is the last line of a traceback. Return "" if it is about something else than a module
    that the course needs and that was not found.
    """
    match = NOT_FOUND.match(line)
    return _describe_not_installed(match[1]) if match else ""


def _describe_error(error: BaseException) -> str:
    """Return a sentence on the missing part that an error itself is about, else "".

    The causes of the error are not looked at.
    """
    if real_isinstance(error, OneSentence):  # its message is such a sentence already
        return str(error)
    if real_isinstance(error, ModuleNotFoundError):
        # `error.name` could be a property of a subclass, and run code of the user.
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
    """Return the sentence for an unbound variable such as `tf` if its framework is not installed.

    A cell that uses `tf` fails so after the cell with the import has failed. Return "" for any
    other name, and if the framework is installed.
    """
    name = NameError.name.__get__(error)
    framework = NAMES.get(name) if type(name) is str else None
    if framework is None:
        return ""
    if sys.modules.get(framework) is not None or util.find_spec(framework) is not None:
        return ""
    return _describe_not_installed(framework)


def _describe_broken_import(error: BaseException) -> str:
    """Return the sentence for an error that ended the import of a framework; "" for any other.

    The traceback of such an error has a frame of one of the framework's modules, called <module>.
    """
    importing = set()  # the packages that were being imported when the error was raised
    for frame, _ in walk_tb(traceback_of(error)):
        if frame.f_code.co_name == "<module>":
            module = str(frame.f_globals.get("__name__"))
            importing.add(module.partition(".")[0])
    for part in FRAMEWORKS:
        # After a failed import, Python removes the module from `sys.modules`. If the framework is
        # there, the error came later, or was handled.
        if part in importing and sys.modules.get(part) is None:
            return describe_unusable_framework(part, error)
    return ""


def _describe_not_installed(module: str | None) -> str:
    """Return the sentence for a module that is not installed; "" if the course does not need it.

    `module` is the `name` of an ImportError, which may be any object.
    """
    if type(module) is not str or (module not in FRAMEWORKS and module not in PACKAGES):
        return ""
    name = FRAMEWORKS.get(module, module)
    if not HAS_COURSE:
        return f"{name} is missing in this Python: {describe_cure(module)}."
    closing = REST if module in FRAMEWORKS else ""
    return f"{name} is missing in this notebook's Python: {describe_cure(module)}{closing}."


def describe_unusable_framework(part: str, error: BaseException) -> str:
    """Return a sentence on a framework that is installed, but whose import raised `error`."""
    first_line = str(error).strip().partition("\n")[0]
    reason = f"{real_type_name(error)}: {printable(first_line, 200)}".removesuffix(": ")
    return (
        f"{FRAMEWORKS[part]} cannot be imported ({reason}): {RESTART} {describe_cure(part)}{REST}."
    )


def read_pins() -> dict[str, str]:
    """Return package -> the version that the course needs, such as "==2.4.6".

    For the wheel the version is a range, such as ">=2,<3". The dict is empty if neither the
    course's pins nor the wheel's metadata can be read.
    """
    from packaging.requirements import Requirement

    pins = {}
    for line in _read_requirements():
        if line and not line.startswith("#"):
            requirement = Requirement(line)
            # A marker says for which system, or for which extra of the wheel, a line counts.
            marker = requirement.marker
            if marker is None or any(marker.evaluate({"extra": extra}) for extra in EXTRAS):
                pins[requirement.name] = str(requirement.specifier)
    return pins


def _read_requirements() -> list[str]:
    """Return requirements such as "numpy==2.4.6": the lines of constraints.txt, or the wheel's.

    Return [] if neither can be read.
    """
    with suppress(metadata.PackageNotFoundError, OSError):
        pinned = CONSTRAINTS.read_text("utf-8").splitlines() if HAS_COURSE else []
        return pinned or metadata.requires(PROJECT) or []
    return []


def list_distribution_names(package: str) -> tuple[str, ...]:
    """Return the names of the distributions that may contain a package, the usual one first."""
    if package == "tensorflow":
        return (package, f"{package}-cpu")
    return (package,)


def find_installed_version(package: str) -> str:
    """Return the installed version of a package; "" if it is not installed.

    The label of a build is left out, so "2.13.0+cpu" is returned as "2.13.0". A version that cannot
    be read is "unknown".
    """
    for name in list_distribution_names(package):
        with suppress(metadata.PackageNotFoundError):
            version = metadata.version(name) or "unknown"  # its METADATA may be gone
            return version.partition("+")[0]
    return ""
