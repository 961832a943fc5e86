"""`warnings.warn` called in the machine -> the same warning, from the frame that it speaks of.

Mirrors `setup_context` in CPython's `Python/_warnings.c`: `stacklevel` counts the machine's frames,
then those of CPython below them.
"""

import sys
import warnings

NOWHERE = ("<sys>", 0) if sys.version_info >= (3, 13) else ("sys", 1)


def warn(frame, *args, **kwargs):
    """Warn as `warnings.warn(*args, **kwargs)` would; what is wrong it refuses itself."""
    given = _arguments(*args, **kwargs) if _fits(args, kwargs) else None
    if given is None:
        return warnings.warn(*args, **kwargs)
    message, category, level, source, prefixes = given
    found = _frame_of(frame, level, prefixes)
    space = vars(sys) if found is None else found.f_globals
    filename, line = NOWHERE if found is None else (found.f_code.co_filename, found.f_lineno)
    module = space.get("__name__")
    if module is not None and not isinstance(module, str):
        module = "<string>"
    registry = space.setdefault("__warningregistry__", {})
    warnings.warn_explicit(message, category, filename, line, module, registry, None, source)
    return None


def _fits(args, kwargs) -> bool:
    names = {"message", "category", "stacklevel", "source"}
    if sys.version_info >= (3, 12):
        names = names | {"skip_file_prefixes"}
    positional = ("message", "category", "stacklevel", "source")[: len(args)]
    given = [*positional, *kwargs]
    return (
        len(args) <= 4
        and "message" in given
        and len(set(given)) == len(given)
        and names.issuperset(kwargs)
    )


def _arguments(message, category=None, stacklevel=1, source=None, skip_file_prefixes=()):
    """Return what is to be warned of; None for what CPython is to refuse."""
    if isinstance(message, Warning):
        category = type(message)
    elif category is None:
        category = UserWarning
    fits = isinstance(category, type) and issubclass(category, Warning)
    plain = type(skip_file_prefixes) is tuple and all(type(p) is str for p in skip_file_prefixes)
    if not fits or not isinstance(stacklevel, int) or not plain:
        return None
    level = max(2, stacklevel) if skip_file_prefixes else stacklevel
    return message, category, level, source, skip_file_prefixes


def _frame_of(frame, level, prefixes):
    """Return the frame that `stacklevel` names, None where the stack is not that deep."""
    skips = level > 0 and not _is_internal(frame)
    while level > 1 and frame is not None:
        frame, level = frame.f_back, level - 1
        while skips and frame is not None and _is_passed_over(frame, prefixes):
            frame = frame.f_back
    return frame


def _is_internal(frame) -> bool:
    name = frame.f_code.co_filename
    return "importlib" in name and "_bootstrap" in name


def _is_passed_over(frame, prefixes) -> bool:
    skipped = bool(prefixes) and frame.f_code.co_filename.startswith(prefixes)
    return skipped or _is_internal(frame)
