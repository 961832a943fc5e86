"""An error -> one sentence with the cure, where it says that a part of the course is missing.

A part is a framework, a package that the helpers import, or a compiler. Missing is what is not
installed, what is installed and does not import, and what came in another version than the pinned.
The pins are the course's `constraints.txt`; where `helpers` was installed alone, its own extras.

`switch_on` has a notebook show the sentence in place of a traceback.
"""

import ast
import linecache
import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from importlib import metadata, util
from pathlib import Path
from traceback import walk_tb
from typing import NamedTuple

from helpers.safety.arguments import kind_of, printable

COURSE = Path(__file__).parents[2]
CONSTRAINTS = COURSE / "constraints.txt"
PROJECT, EXTRAS = "who-runs-your-function", ("torch", "tensorflow", "lab")  # pyproject.toml
FRAMEWORKS = {"tensorflow": "TensorFlow", "torch": "PyTorch"}
PACKAGES = ("anywidget", "bytecode", "ipywidgets", "jinja2", "networkx", "numpy", "packaging")
PACKAGES += ("psutil", "tabulate")
NAMES = {"tf": "tensorflow", "torch": "torch"}  # what the notebooks call a framework
CURE = (
    "run `python course.py setup` (delete the folder .venv first if that changes nothing), then "
    "open the notebook with `python course.py lab`"
)
ALONE = "run `pip install {}` for the Python of this kernel"
CUT_SHORT = (
    "The import of PyTorch was cut short, and another fails or ends this kernel: restart it."
)
RESTART = "restart the kernel; if that changes nothing,"  # half of a framework may be loaded
REST = "; cells that do not need it run without"
COULD_NOT = " could not run to its end. "
COMPILER_CURE = (
    "install one (`sudo apt install g++` on Debian and Ubuntu, `xcode-select --install` on macOS) "
    "and run this again"
)
NO_CXX = "No working C++ compiler found"  # torch/_inductor/exc.py: InvalidCxxCompiler
NOT_FOUND = re.compile(r"ModuleNotFoundError: No module named '(\w+)'")
MOST_CAUSES = 5

_UNMADE: dict[str, str] = {}  # name -> why the cell that makes it has not made it
_TOLD: set[str] = set()  # frameworks of whose version a notebook has told


class OneSentence:
    """An exception that IPython shows as its message alone, with no frames."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


class MissingPart(OneSentence, RuntimeError):
    """A part of the course is missing; the message says which, and the cure."""


# -- the sentence


def sentence(error: BaseException) -> str:
    """Return which part is missing, and the cure; empty where the error is about something else."""
    try:
        return next(filter(None, map(_sentence_of_one, _chain(error))), "")
    except Exception:  # an exception may be of a class that answers for itself
        return ""


def cure(module: str) -> str:
    """Return what to do where a module is missing: by course.py, or by pip without the course."""
    return CURE if has_course() else f"{repair(module)}, and restart the kernel"


def repair(module: str) -> str:
    """Return the command alone, as a table has room for."""
    by_pip = ALONE.format(f'"{requirement(module)}"')
    return "run `python course.py setup`" if has_course() else by_pip


def note(error: BaseException) -> None:
    """Add the sentence to an error, if there is one: Python prints it below a traceback."""
    if words := sentence(error):
        error.add_note(words)


def of_line(line: str) -> str:
    """Return the same for the last line of a traceback that another process has printed."""
    found = NOT_FOUND.match(line)
    return _not_installed(found[1]) if found else ""


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    for _ in range(MOST_CAUSES):
        if error is None:
            return
        yield error
        error = error.__cause__


def _sentence_of_one(error: BaseException) -> str:
    if isinstance(error, OneSentence):
        return str(error)
    if isinstance(error, ModuleNotFoundError) and (words := _not_installed(error.name)):
        return words
    if isinstance(error, NameError):
        part, why = NAMES.get(error.name), _UNMADE.get(error.name)
        if part and sys.modules.get(part) is None and util.find_spec(part) is None:
            return _not_installed(part)
        return f"The cell that makes `{error.name}`{COULD_NOT}{why}" if why else ""
    if type(error).__module__.startswith("torch.") and NO_CXX in str(error):
        return f"There is no C++ compiler here, and torch's Inductor needs one: {COMPILER_CURE}."
    for part in FRAMEWORKS:
        if sys.modules.get(part) is None and _ended_the_import_of(part, error):
            return unusable(part, error)
    return _of_another_version(error)


def _not_installed(module: str | None) -> str:
    if module == "torch" and sys.modules.get(module) is None and _has_half_of_torch():
        return CUT_SHORT
    if module not in FRAMEWORKS and module not in PACKAGES:
        return ""
    name, rest = FRAMEWORKS.get(module, module), REST if module in FRAMEWORKS else ""
    return f"{name} is missing in this notebook's Python: {cure(module)}{rest}."


def unusable(part: str, error: BaseException) -> str:
    """Return what to say of a framework whose import ended with this error."""
    first = str(error).strip().partition("\n")[0]
    why = f"{kind_of(error)}: {printable(first, 200)}".removesuffix(": ")
    other = another_version(part)
    which = f" {other.found}, where the course needs {other.pinned}," if other else ""
    return f"{FRAMEWORKS[part]}{which} cannot be imported ({why}): {RESTART} {cure(part)}{REST}."


def _ended_the_import_of(part: str, error: BaseException) -> bool:
    """Return whether the error came through the body of a framework's own module."""
    return any(
        str(frame.f_globals.get("__name__")).partition(".")[0] == part
        and frame.f_code.co_name == "<module>"
        for frame, _ in walk_tb(error.__traceback__)
    )


def _of_another_version(error: BaseException) -> str:
    """Say so where a name of a framework was not found, and it is not the pinned version."""
    part = str(getattr(error, "name", "")).partition(".")[0]
    if not isinstance(error, ImportError) or part not in FRAMEWORKS or not another_version(part):
        return ""
    return f"{differs(part)} Missing is {printable(error.name, 100)}."


def differs(part: str) -> str:
    """Return what to say of a framework in another version than the pinned; else nothing."""
    other = another_version(part)
    if other is None:
        return ""
    return (
        f"{FRAMEWORKS[part]} {other.found} is installed, and the course needs {other.pinned}, so "
        f"what you see may differ, or fail: {cure(part)}."
    )


# -- versions


class Versions(NamedTuple):
    """Two versions, without build labels."""

    found: str
    pinned: str


def pins() -> dict[str, str]:
    """Return package -> pinned version for this machine, empty where the pins are not at hand."""
    exact = ((name, str(wanted)) for name, wanted in _wanted().items())
    return {name: wanted[2:] for name, wanted in exact if wanted.startswith("==")}


def _wanted() -> dict:
    """Return package -> what is wanted of it on this machine, as a `SpecifierSet`."""
    from packaging.requirements import Requirement

    lines = []
    with suppress(metadata.PackageNotFoundError):
        own = CONSTRAINTS.is_file()
        lines = CONSTRAINTS.read_text("utf-8").splitlines() if own else metadata.requires(PROJECT)
    wanted = (Requirement(line) for line in lines or () if line and not line.startswith("#"))
    return {
        one.name: one.specifier
        for one in wanted
        if one.marker is None or any(one.marker.evaluate({"extra": name}) for name in EXTRAS)
    }


def requirement(package: str) -> str:
    """Return what pip is to be told for this machine: `torch==2.13.0`, or the name alone."""
    try:
        wanted = _wanted()
    except ImportError:  # `packaging` may be what is missing
        return package
    name = next((one for one in distributions(package) if one in wanted), package)
    return f"{name}{wanted.get(name, '')}"


def has_course() -> bool:
    """Return whether these helpers stand in a clone of the course, beside its `course.py`."""
    return (COURSE / "course.py").is_file()


def distributions(package: str) -> tuple[str, ...]:
    """Return the names under which a package may be installed."""
    return (package, f"{package}-cpu") if package == "tensorflow" else (package,)


def installed(package: str) -> str:
    """Return its version without its build label (2.13.0+cpu is 2.13.0), or nothing."""
    for name in distributions(package):
        with suppress(metadata.PackageNotFoundError):
            return metadata.version(name).partition("+")[0]
    return ""


@cache
def another_version(package: str) -> Versions | None:
    """Return both versions if the first two numbers differ; None if they agree, or one is unknown.

    An installation does not change under a running kernel, so they are read once.
    """
    known = pins()
    pinned = next((known[name] for name in distributions(package) if name in known), "")
    found = installed(package)
    differ = found and pinned and found.split(".")[:2] != pinned.split(".")[:2]
    return Versions(found, pinned) if differ else None


# -- a notebook


def switch_on() -> None:
    """Tell this process's IPython, unless there is none, or it has somebody for its errors."""
    shell = sys.modules["IPython"].get_ipython()
    if shell is not None and not shell.custom_exceptions:
        shell.set_custom_exc((Exception,), show_error)
        shell.events.register("post_run_cell", tell_versions)
        shell.events.register("post_run_cell", refuse_a_second_import)


def show_error(shell, kind, error, trace, tb_offset=None) -> None:
    """Show what a cell raised: without its frames where a sentence says it all."""
    with suppress(Exception):  # a slot for what IPython shows, where the error has one
        if words := sentence(error):
            error._render_traceback_ = lambda: [words]
            frames = (frame for frame, _ in walk_tb(trace))
            cell = next(one for one in frames if one.f_globals is shell.user_global_ns)
            remember("".join(linecache.getlines(cell.f_code.co_filename)), words)
    given = kind, error, trace
    shell.showtraceback(given, tb_offset=tb_offset, running_compiled_code=True)


def remember(source: str, words: str) -> None:
    """Note that a cell of this source ended with these words, so its names may be missing later.

    SyntaxError for what is not Python alone.
    """
    why = words.rpartition(COULD_NOT)[2]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            _UNMADE[node.id] = why
        elif isinstance(node, ast.alias):
            _UNMADE[(node.asname or node.name).partition(".")[0]] = why
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            _UNMADE[node.name] = why


def refuse_a_second_import(result=None) -> None:
    """Have PyTorch refuse to be imported again where its first import did not end.

    Once torch._C is loaded, a second import fails, or kills the interpreter (SIGSEGV). Loaded it
    may be where no module says so: one that is cut at its very end goes from sys.modules.
    """
    if "torch" not in sys.modules and _has_half_of_torch():
        sys.modules["torch"] = None


def _has_half_of_torch() -> bool:
    return any(name.startswith("torch.") for name in list(sys.modules))


def tell_versions(result=None) -> None:
    """Print a sentence for each framework that is imported in another version than the pinned."""
    for part in FRAMEWORKS:
        if part in sys.modules and part not in _TOLD:
            _TOLD.add(part)
            with suppress(Exception):
                if words := differs(part):
                    print(words)
