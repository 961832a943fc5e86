"""An error -> one sentence with the cure, where it says that a part of the course is missing.

A part is a framework, a package that the helpers import, or a compiler. Missing is what is not
installed, what is installed and does not import, and what came in another version than the pinned.
"""

import ast
import re
import sys
from collections.abc import Iterator
from importlib import util

from helpers.safety.arguments import kind_of, printable
from helpers.safety.original_builtins import BUILTINS
from helpers.safety.versions import another_version, has_course, requirement

__builtins__ = BUILTINS  # those of the interpreter may be patched when this runs

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
MOST_CAUSES, MOST_FRAMES = 5, 500

_UNMADE: dict[str, str] = {}  # name -> why the cell that makes it has not made it


class OneSentence:
    """An exception that IPython shows as its message alone, with no frames."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


class MissingPart(OneSentence, RuntimeError):
    """A part of the course is missing; the message says which, and the cure."""


def sentence(error: BaseException) -> str:
    """Return which part is missing, and the cure; empty where the error is about something else."""
    try:
        return next(filter(None, map(_of_one, _chain(error))), "")
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


def remember(source: str, words: str) -> None:
    """Note that a cell of this source ended with these words, so its names may be missing later.

    SyntaxError for what is not Python alone.
    """
    made = ast.walk(ast.parse(source))
    why = words.rpartition(COULD_NOT)[2]
    _UNMADE.update({name: why for node in made for name in _bound_by(node)})


def _bound_by(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Name):
        return [node.id] if isinstance(node.ctx, ast.Store) else []
    if isinstance(node, ast.alias):
        return [(node.asname or node.name).partition(".")[0]]
    return [node.name] if isinstance(node, (ast.FunctionDef, ast.ClassDef)) else []


def of_line(line: str) -> str:
    """Return the same for the last line of a traceback that another process has printed."""
    found = NOT_FOUND.match(line)
    return _not_installed(found[1]) if found else ""


def _chain(error: BaseException) -> Iterator[BaseException]:
    for _ in range(MOST_CAUSES):
        if error is None:
            return
        yield error
        error = error.__cause__


def _of_one(error: BaseException) -> str:
    kind = type(error)
    if issubclass(kind, OneSentence):
        return str(error)
    if issubclass(kind, ModuleNotFoundError) and (words := _not_installed(error.name)):
        return words
    if issubclass(kind, NameError):
        part, why = NAMES.get(error.name), _UNMADE.get(error.name)
        if part and _absent(part):
            return _not_installed(part)
        return f"The cell that makes `{error.name}`{COULD_NOT}{why}" if why else ""
    if kind.__module__.startswith("torch.") and NO_CXX in str(error):
        return f"There is no C++ compiler here, and torch's Inductor needs one: {COMPILER_CURE}."
    return _broken(error) or _of_another_version(error)


def refuse_a_second_import() -> None:
    """Have PyTorch refuse to be imported again where its first import did not end.

    Once torch._C is loaded, a second import fails, or kills the interpreter (SIGSEGV). Loaded it
    may be where no module says so: one that is cut at its very end goes from sys.modules.
    """
    if "torch" not in sys.modules and _parts_of_torch():
        sys.modules["torch"] = None


def _parts_of_torch() -> bool:
    return any(type(name) is str and name.startswith("torch.") for name in list(sys.modules))


def _not_installed(module: str | None) -> str:
    if module == "torch" and sys.modules.get(module) is None and _parts_of_torch():
        return CUT_SHORT
    if module not in FRAMEWORKS and module not in PACKAGES:
        return ""
    name, rest = FRAMEWORKS.get(module, module), REST if module in FRAMEWORKS else ""
    return f"{name} is missing in this notebook's Python: {cure(module)}{rest}."


def _absent(module: str) -> bool:
    if sys.modules.get(module) is not None:
        return False
    try:
        return util.find_spec(module) is None
    except (ImportError, ValueError):
        return True


def _broken(error: BaseException) -> str:
    """Say so where the error ended the import of a framework."""
    gone = (part for part in FRAMEWORKS if sys.modules.get(part) is None)
    return next((unusable(part, error) for part in gone if _passed(error, part)), "")


def unusable(part: str, error: BaseException) -> str:
    """Return what to say of a framework whose import ended with this error."""
    first = str(error).strip().partition("\n")[0]
    why = f"{kind_of(error)}: {printable(first, 200)}".removesuffix(": ")
    other = another_version(part)
    which = f" {other.found}, where the course needs {other.pinned}," if other else ""
    return f"{FRAMEWORKS[part]}{which} cannot be imported ({why}): {RESTART} {cure(part)}{REST}."


def _passed(error: BaseException, part: str) -> bool:
    """Return whether the error came through the body of a framework's own module."""
    trace = error.__traceback__
    for _ in range(MOST_FRAMES):
        if trace is None:
            return False
        frame, trace = trace.tb_frame, trace.tb_next
        home = str(frame.f_globals.get("__name__")).partition(".")[0]
        if home == part and frame.f_code.co_name == "<module>":
            return True
    return False


def _of_another_version(error: BaseException) -> str:
    """Say so where a name of a framework was not found, and it is not the pinned version."""
    if not issubclass(type(error), ImportError) or type(error.name) is not str:
        return ""
    part = error.name.partition(".")[0]
    other = another_version(part) if part in FRAMEWORKS else None
    if other is None:
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
