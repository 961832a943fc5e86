"""A learner's log of ops and the true one -> how they part, in words."""

import re
from collections.abc import MutableSequence

from helpers.safety.arguments import kind_of
from helpers.study.two_answers import parted


def compared(log, truth: list[str], what: str) -> str | None:
    """Return how a log parts from the true one, in words; None if it does not."""
    if because := no_list(log):
        return because
    log = list(log)
    if log == truth:
        return None
    if any(isinstance(name, bytes) for name in log):
        return f"for {what} there are bytes in the log: the fallback names its op so; decode them"
    return odd(what, log, truth)


def no_list(log) -> str | None:
    """Return what a log is, in words, if it is no list, nor like one."""
    if issubclass(type(log), MutableSequence):
        return None
    return f"the block must be given a list, `with op_logger() as log`, not {kind_of(log)}"


def odd(what: str, log: list, truth: list[str]) -> str:
    """Return the words for two logs that differ."""
    logs = (f"has {_plain_names(names)}" for names in (log, truth))
    return parted(f"for {what}, ", *logs, "TensorFlow's own log")


def _plain_names(names: list) -> list:
    """Return the names without the counter that ends the name of a generated function."""
    return [re.sub(r"^(__inference_.*?)\d+$", r"\1", str(name)) for name in names]
