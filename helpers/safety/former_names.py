"""Say what to use for a public name that the package lacks: its new name, or a similar one.
A learner's notebook may be older than the package. `OLD_NAMES` has the public names of earlier
versions, and `OLD_CHECKS` the exercises of earlier versions, each with the chapter that used it.
"""

import os
import re
from collections.abc import Collection
from difflib import get_close_matches
from importlib.util import find_spec

from .missing_parts import HAS_COURSE, OneSentence

NEAR = 0.7  # how much of a name must be alike
_CHAPTER = re.compile(r"0*(\d+)_[^/\\]*\.ipynb")


class NotOffered(OneSentence, AttributeError):
    """An attribute that the package or `check` does not have; the message says what to use."""

    def __init__(self, message: str):
        # With a name and an object, Python would add "Did you mean …?" to the message.
        super().__init__(message, name="", obj=None)


class NotImportable(OneSentence, ImportError):
    """A name that `from helpers import …` does not find; the message says what to use."""


# old name -> (number of the chapter that used it, new name or what to do instead)
OLD_NAMES = {
    "run_apart": (5, "call_in_child"),
    "show_coverage": (3, "show_opcode_coverage"),
    "show_nested": (2, "show_table"),
    "show_op_files": (5, "print the text of a file to see it"),
    "show_recording": (4, "show_graph shows what TensorFlow records, show_fx what torch records"),
    "show_tape": (6, "show_op_graph"),
    "show_then_and_now": (6, "show_imports_then_and_now"),
    "sigmoid_in_cpp": (5, "the text of the exercise check.sigmoid has the C++ file"),
    "variable_sandbox": (6, "watch_variables runs a program with both kinds of variable"),
    "watch_child": (6, "watch_in_child"),
    "watch_compiles": (4, "watch_recompiles"),
    "watch_cures": (4, "watch_fixes"),
    "watch_recorders": (4, "show_graph shows what TensorFlow records, show_fx what torch records"),
}
# The names that only the course has. The wheel, the package without the course, lacks them.
OF_COURSE = frozenset(
    """
    Case agrees broken_ops cases check compare_kernel_checks expect failing_stage fit_around
    gradient op_folder predict py_execute raised relu_files relu_so_far run_op run_with_gradient
    share_progress show_class show_opcode_coverage show_predictions show_progress show_word
    signature_sandbox stop_sharing train_through without_each_piece
    """.split()  # noqa: SIM905
)
# old exercise -> (number of the chapter that had it, new name or what replaces it)
OLD_CHECKS = {
    "bug": (5, "gradient_names"),
    "cache": (2, "its parts are check.cache_key, check.cache_lookup and check.cache_mutation"),
    "evicting_cache": (4, "its chapter has check.one_compile in its place"),
    "finder": (1, "default_finder"),
    "gives_up": (7, "chapter 7 has other cases in its place"),
    "hook_callback": (4, "its chapter has check.behind_the_hook in its place"),
    "keepers": (3, "kept_alive"),
    "leaky": (5, "its chapter has check.smooth_max in its place"),
    "one_more_holder": (1, "its chapter has check.who_kept in its place"),
    "patch": (1, "rebinding"),
    "slow_frames": (7, "chapter 7 has other cases in its place"),
    "split": (5, "its chapter has check.smooth_max in its place"),
    "unregistered": (7, "missing_op"),
    "wrong_gradient": (7, "chapter 7 has other cases in its place"),
}


def build_name_error(
    name: str, offered: Collection[str], package: str, asking_module: str | None
) -> Exception:
    """Return the error to raise where somebody asks the package for a name that it lacks.

    Its message says which name to use instead, if one is known.

    Parameters
    ----------
    name
        The name that the package lacks.
    offered
        The public names that it has.
    package
        The name of the package.
    asking_module
        The name of the module that asks, "importlib._bootstrap" for `from helpers import …`.
    """
    # Python and its tools ask for private names, such as `__path__`, that nobody has misspelt.
    message = "" if name.startswith("_") else describe_unknown_name(name, offered, package)
    if not message:
        return AttributeError(f"module {package!r} has no attribute {name!r}")
    # After an AttributeError, `from helpers import …` looks for a submodule of that name. If there
    # is none, it raises an ImportError of its own, without this message. So ours is an ImportError.
    if asking_module == "importlib._bootstrap" and not find_spec(f"{package}.{name}"):
        return NotImportable(message)
    return NotOffered(message)


def describe_unknown_name(name: str, offered: Collection[str], package: str) -> str:
    """Return a sentence on what to use for a public name that the package lacks.

    `offered` are the names that it has, and `package` is the name of the package. Return "" if the
    name is not known and none is similar.
    """
    if name in OF_COURSE:
        return f"{name} is in the notebooks' course; {package} has only instruments"
    if name in OLD_NAMES:
        return _describe_old_name(name, *OLD_NAMES[name], offered)
    near = get_close_matches(name, offered, n=1, cutoff=NEAR)
    return f"{package} has no {name}; did you mean {near[0]}?" if near else ""


def describe_unknown_exercise(name: str, offered: Collection[str]) -> str:
    """Return a sentence on what to use for an exercise that does not exist.

    `offered` are the names of the exercises. The sentence has the new name of an old exercise, or
    the two most similar names.
    """
    if name in OLD_CHECKS:
        return _describe_old_name(name, *OLD_CHECKS[name], offered, "check.")
    near = " or ".join(get_close_matches(name, offered, n=2, cutoff=0))
    return (
        f"there is no exercise {name!r}: did you mean {near}? show_progress() lists all exercises"
    )


def _describe_old_name(
    name: str, chapter: int, replacement: str, offered: Collection[str], prefix: str = ""
) -> str:
    """Return a sentence on what replaces an old name, and how to get the chapter that uses it.

    Parameters
    ----------
    name
        The old name.
    chapter
        The number of the chapter that used the old name.
    replacement
        The new name if it is one of `offered`, else a clause on what to do instead.
    offered
        The names that exist now.
    prefix
        The text before each name, such as "check.".
    """
    if replacement in offered:
        sentence = f"{prefix}{name} is now {prefix}{replacement}"
    else:
        sentence = f"{prefix}{name} is gone: {replacement}"
    if not HAS_COURSE:  # the wheel has no chapters
        return f"{sentence}."
    open_chapter = _find_open_chapter()
    number = chapter if open_chapter is None else open_chapter
    cure = f"`python course.py reset {number:02}` brings the newest chapter {number}"
    return f"{sentence}; {cure} and keeps yours beside it."


def _find_open_chapter() -> int | None:
    """Return the number of the chapter whose notebook this kernel runs.

    Jupyter stores the path of the notebook in an environment variable. Return None if that is
    missing, or is no chapter.
    """
    file_name = os.path.basename(os.environ.get("JPY_SESSION_NAME", ""))
    match = _CHAPTER.fullmatch(file_name)
    return int(match[1]) if match else None
