"""Chapter 5: three folders with one mistake each, to be repaired from what is said about them."""

import numpy as np

from helpers.study.chapter_5.op_texts import op_files
from helpers.study.chapter_5.op_trial import judge_op
from helpers.study.chapter_5.run_op import blobs_of, loading, run, there_and_back, wrapper_of
from helpers.study.check import Exercise, Unfit, tried
from helpers.study.engine import brief, by_name, in_order, within

_PARTS = ("file", "old text", "new text")
_OPS = {  # name -> forward, backward, torch's formula, and the mistake: old, new
    "user_cube": (
        *("x**3", "3 * np.cbrt(y) ** 2 * dy", lambda x: (x**3,)),
        ("return x**3", "return np.array(x**3, dtype=float)"),
    ),
    "user_double": (
        *("2 * x", "2 * dy", lambda x: (2 * x,)),
        ('OpTypeName("user_double_backward")', 'OpTypeName("user_doubled_backward")'),
    ),
    "user_negate": (
        *("-x", "-dy", lambda x: (-x,)),
        ('.Input("in", [x])', '.Input("in", x)'),
    ),
}


def broken_ops() -> dict[str, dict[str, str]]:
    """Return three ops by name, as files by name; each has one mistake."""
    return {name: _broken(name) for name in _OPS}


def _broken(name: str) -> dict[str, str]:
    forward, backward, _, (old, new) = _OPS[name]
    files = op_files(name, forward, backward)
    return {file: text.replace(old, new) for file, text in files.items()}


def run_with_gradient(name: str, files: dict[str, str]) -> None:
    """Load an op, run it, and go back through it, in a session of its own. May raise OpError."""
    x = np.ones(2, np.float32)
    with loading(name, files) as api:
        wrapper = wrapper_of(api, name)
        run(wrapper, x)
        there_and_back(lambda blob: blobs_of(wrapper, blob), x, [x])


def _judge(repairs=None):
    repairs = by_name(repairs, _OPS, "the repairs")
    edits = {name: _edit(name, repair) for name, repair in repairs.items()}
    return next(filter(None, (_repaired(name, *edit) for name, edit in edits.items())), None)


def _edit(name: str, repair) -> tuple[str, str, str]:
    """Return file, old and new text; Unfit if it is no such thing, Untried if one is `...`."""
    what = f"the repair of {name}, ({', '.join(_PARTS)}),"
    parts = in_order(repair, len(_PARTS), what)
    if len(parts) != len(_PARTS):
        raise Unfit(f"{what} must be three texts, not {len(parts)}")
    for part, text in zip(_PARTS, parts, strict=True):
        if not isinstance(tried(text, f"{part} of {name}"), str):
            raise Unfit(f"the {part} of {name} must be a text, not {brief(text)}")
    return tuple(parts)


def _repaired(name: str, file: str, old: str, new: str) -> str | None:
    """Return why one repair does not do; None if it does."""
    files = _broken(name)
    if file not in files:
        return f"{name} has no file {file!r}; it has {', '.join(files)}"
    count = files[file].count(old) if old else 0
    if count != 1:
        return f"{old!r} stands {count} times in {file}; it must be a text that stands there once"
    files[file] = files[file].replace(old, new)
    because = judge_op(name, files, _OPS[name][2], endless=False)
    return because and within(f"{name}: ", because)


REPAIR = Exercise(
    "repair",
    _judge,
    "Three messages, three edits, and all three ops agree with torch.",
    (
        "Each message names the op, and most name a file. Print that file first.",
        "user_cube breaks a promise about the dtype when it runs; user_double asks for an op type "
        "that is not there when its gradient is appended; user_negate is not put together right.",
        "user_cube: x**3 alone keeps the dtype. user_double: compare the name after OpTypeName "
        "with the registered ones. user_negate: the message says what to write.",
    ),
)
