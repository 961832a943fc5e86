"""A name that is not offered -> one sentence: what it is called now, or what is near.

A learner's notebook may be older than the course. `OLD_NAMES` has all that the front door ever
offered, `OLD_CHECKS` all exercises that there ever were, each with the chapter that used it.
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
    """A name that an object of the course does not have; the message says what to use."""

    def __init__(self, words: str):
        super().__init__(words, name="", obj=None)  # so that Python adds no guess of its own


class NotImportable(OneSentence, ImportError):
    """A name that `from helpers import …` does not find; the message says what to use."""


# name -> the chapter that used it, and the new name, or what to do where there is none
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
# Names of `study`, which the wheel does not have.
OF_COURSE = frozenset(
    """
    Case agrees broken_ops cases check compare_kernel_checks expect failing_stage fit_around
    gradient op_folder predict py_execute raised relu_files relu_so_far run_op run_with_gradient
    share_progress show_class show_opcode_coverage show_predictions show_progress show_word
    signature_sandbox stop_sharing train_through without_each_piece
    """.split()  # noqa: SIM905
)
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


def error_of_name(
    name: str, offered: Collection[str], package: str, asking_module: str | None
) -> Exception:
    """Return the error for a name that the package lacks: its new name, or what is near.

    `offered` are the names that it has, and `asking_module` the name of the module that asks.

    `from helpers import …` takes an AttributeError for "look for a module of that name", and has no
    words for it afterwards. So where it asks, and there is no such module, the error is another.
    """
    words = "" if name.startswith("_") else sentence_of_name(name, offered, package)
    if not words:
        return AttributeError(f"module {package!r} has no attribute {name!r}")
    if asking_module == "importlib._bootstrap" and not find_spec(f"{package}.{name}"):
        return NotImportable(words)
    return NotOffered(words)


def sentence_of_name(name: str, offered: Collection[str], where: str) -> str:
    """Return what to use for a name that the front door lacks; "" where nothing is near."""
    if name in OF_COURSE:
        return f"{name} is in the notebooks' course; {where} has only instruments"
    if name in OLD_NAMES:
        return _replaced(name, *OLD_NAMES[name], offered)
    near = get_close_matches(name, offered, n=1, cutoff=NEAR)
    return f"{where} has no {name}; did you mean {near[0]}?" if near else ""


def sentence_of_check(name: str, offered: Collection[str]) -> str:
    """Return what to use for an exercise that does not exist, or what is near."""
    if name in OLD_CHECKS:
        return _replaced(name, *OLD_CHECKS[name], offered, "check.")
    near = " or ".join(get_close_matches(name, offered, n=2, cutoff=0))
    return (
        f"there is no exercise {name!r}: did you mean {near}? show_progress() lists all exercises"
    )


def _replaced(name: str, chapter: int, now: str, offered: Collection[str], prefix: str = "") -> str:
    """Return a sentence: a name is another now, or gone, and how to get the chapter that knows it.

    `now` is the new name, if it is among those `offered`, else what to do instead. `chapter` is the
    number of the chapter that used the old name, and `prefix` comes before both names.
    """
    if now in offered:
        words = f"{prefix}{name} is now {prefix}{now}"
    else:
        words = f"{prefix}{name} is gone: {now}"
    if not HAS_COURSE:
        return f"{words}."
    here = _open_chapter()
    number = chapter if here is None else here
    cure = f"`python course.py reset {number:02}` brings the newest chapter {number}"
    return f"{words}; {cure} and keeps yours beside it."


def _open_chapter() -> int | None:
    """Return the number of the chapter whose kernel this is, if Jupyter says so."""
    found = _CHAPTER.fullmatch(os.path.basename(os.environ.get("JPY_SESSION_NAME", "")))
    return int(found[1]) if found else None
