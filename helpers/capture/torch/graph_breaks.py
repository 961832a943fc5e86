"""Cases and their cures under `torch.compile` -> fewer graph breaks, with the same result?"""

import copy
import random
import warnings
from collections.abc import Callable

import numpy as np

from helpers.capture.cpython.settrace import UNRAISABLE, Printed
from helpers.capture.text import tensors
from helpers.capture.text.error import error_message
from helpers.capture.text.value import short_repr
from helpers.capture.torch.dynamo_run import compilable, watched
from helpers.model.tables import Entry, Ledger, Verdict
from helpers.model.torch_records import DynamoRun
from helpers.safety import progress
from helpers.safety.arguments import quote_value, real_isinstance, real_type_name, table
from helpers.safety.restoring import redirected, running_user_code

MOST_SHOWN, MOST_CASES, DEEPEST = 8, 200, 20
MARKS = ("changed", "fewer graph breaks than before"), ("failed", "not as without the cure")
NOT_KNOWN = "only the results' own code could say whether they are the same"
HEADINGS = ("graphs before", "graphs after", "result", "gradient")
SAME, OTHER, UNKNOWN = "same", "other", "unknown"
_PLAIN = (int, float, complex, bool, str, bytes, type(None), type(...), range, slice)
_PLAIN += (set, frozenset)


def cures_ledger(cases, *args) -> Ledger:
    """Compile each case and its cure for the same arguments: graphs before, graphs after, why.

    `cases`: name -> (function, cured function). A result or a gradient that differs is told, too.
    """
    found = table(cases, "watch_fixes", "name -> (function, cured function)", MOST_CASES)
    for name, pair in found:
        if not real_isinstance(pair, tuple, list) or len(pair) != 2:
            raise TypeError(f"case {quote_value(name)} needs a pair: (function, cured function)")
        for fn in pair:
            compilable(fn, "watch_fixes")
    entries = tuple(_entry(*case, args) for case in progress.counted("compiling case", found))
    shared = copied(args)[1]
    note = f"Not copied for each run but shared: {', '.join(shared)}." if shared else ""
    return Ledger("Graph breaks and their cures", "case", HEADINGS, entries, note, marks=MARKS)


def _entry(name, pair, args) -> Entry:
    before, after, differs = _compare_runs(*pair, args)
    result = Verdict("differs", "failed") if differs else Verdict("same")
    result = Verdict("not compared") if differs == NOT_KNOWN else result
    gradient = Verdict("not compared") if differs else _compare_gradients(*pair, args)
    fewer = len(after.breaks) < len(before.breaks)
    graphs = _count_graphs(before, "plain"), _count_graphs(after, "changed" if fewer else "plain")
    causes = [*dict.fromkeys(found.cause for found in before.breaks)] or ["it does not break"]
    causes += ["the cure has another gradient"] * (gradient.word == "differs")
    return Entry(name, (*graphs, result, gradient), differs or "; ".join(causes))


def _count_graphs(run: DynamoRun, tone: str) -> Verdict:
    given_up = any(found.given_up for found in run.breaks)
    return Verdict(f"{len(run.graphs)}{', given up' if given_up else ''}", tone)


def _compare_runs(before, after, args) -> tuple[DynamoRun, DynamoRun, str]:
    """Return the compiled runs of a case and of its cure, and how they or plain Python differ."""
    same_numbers = same_random_numbers()
    first, _ = watched(before, copied(args)[0], None, "watch_fixes", steps=0)
    same_numbers()
    second, kept = watched(after, copied(args)[0], None, "watch_fixes", steps=0)
    same_numbers()
    wanted = _run_quietly(before, args)
    same_numbers()
    plain = _run_quietly(after, args)
    compiled = kept.value if kept.error is None else kept.error
    for made, who in ((plain, "the cure"), (compiled, "compiled, the cure")):
        if compared(wanted, made) == OTHER:
            differs = f"{who} gives {_value_words(made)}, and the case {_value_words(wanted)}"
            return first, second, differs
    unknown = UNKNOWN in (compared(wanted, plain), compared(wanted, compiled))
    return first, second, NOT_KNOWN if unknown else ""


def _compare_gradients(before, after, args) -> Verdict:
    """Say whether plain Python finds the same gradient of each argument through both."""
    same_numbers = same_random_numbers()
    first = _run_quietly(lambda *copies: _gradients(before, args, copies), args)
    same_numbers()
    second = _run_quietly(lambda *copies: _gradients(after, args, copies), args)
    if real_isinstance(first, BaseException) or real_isinstance(second, BaseException):
        return Verdict("not compared")
    if not any(found is not None for found in (*first, *second)):
        return Verdict("none")
    same = compared(first, second) == SAME
    return Verdict("same") if same else Verdict("differs", "failed")


def _gradients(fn, args, copies) -> tuple:
    """Return a gradient, or None, per plain floating tensor of `args`."""
    import torch

    plain = [c for c, v in zip(copies, args, strict=True) if type(c) is torch.Tensor and c is not v]
    asked = [tensor.requires_grad_() for tensor in plain if tensor.is_floating_point()]
    with torch.enable_grad():
        value = fn(*copies)
        if not asked or type(value) is not torch.Tensor or not value.requires_grad:
            return (None,) * len(asked)
        weights = torch.arange(1, value.numel() + 1).reshape(value.shape).to(value)
        return torch.autograd.grad(value, asked, weights, allow_unused=True)


def _run_quietly(fn, args):
    """Return what plain Python returns, or raises, for copies of `args`; nothing is printed."""
    with redirected(Printed()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with running_user_code():
                return fn(*copied(args)[0])
        except UNRAISABLE:
            raise
        except BaseException as error:
            return error


def _value_words(value) -> str:
    if real_isinstance(value, BaseException):
        return error_message(value)
    if not tensors.is_tensor(value):
        return short_repr(value)
    if not tensors.has_its_elements(value) or value.numel() > MOST_SHOWN:
        return tensors.words(value)
    value = value.double().round(decimals=3) if value.is_floating_point() else value
    return short_repr(value.tolist())


def tensor(values):
    """Return a tensor of a number or of (nested) lists of numbers."""
    import torch

    return torch.tensor(values)


# ------------------------------------------------------------------ several runs of one program


def copied(values: tuple) -> tuple[tuple, list[str]]:
    """Return copies of arguments, and the types of what cannot be copied: all runs share it."""
    made, memo, shared = [], {}, []
    for value in values:
        try:
            made.append(copy.deepcopy(value, memo))
        except Exception:
            if tensors.is_tensor(value) and tensors.has_its_elements(value):  # no leaf
                made.append(value.detach().clone().requires_grad_(value.requires_grad))
            else:
                shared.append(real_type_name(value))
                made.append(value)
    return tuple(made), list(dict.fromkeys(shared))


def compared(one, other, depth: int = 0) -> str:
    """Return SAME, OTHER, or UNKNOWN where only the objects' own code could tell.

    Tensors are the same by dtype, shape and nearly by value; nan is the same as nan.
    """
    if type(one) is not type(other):
        return OTHER
    if real_isinstance(one, BaseException):
        return SAME if error_message(one) == error_message(other) else OTHER
    if tensors.is_tensor(one):
        return _compare_tensors(one, other)
    if one is other:
        return SAME
    if type(one) is dict and one.keys() == other.keys():
        one, other = [*one.values()], [other[key] for key in one]
    if real_isinstance(one, list, tuple) and len(one) == len(other):
        if depth == DEEPEST:
            return UNKNOWN
        found = {compared(*pair, depth + 1) for pair in zip(one, other, strict=True)}
        return next((verdict for verdict in (OTHER, UNKNOWN) if verdict in found), SAME)
    if real_isinstance(one, list, tuple, dict):
        return OTHER
    if type(one) not in _PLAIN:
        return UNKNOWN
    return SAME if one == other or (one != one and other != other) else OTHER


def _compare_tensors(one, other) -> str:
    import torch

    if tensors.words(one) != tensors.words(other):
        return OTHER
    if not tensors.has_its_elements(one) or not tensors.has_its_elements(other):
        return SAME if one is other else UNKNOWN
    close = one.is_floating_point() or one.is_complex()
    same = torch.allclose(one, other, equal_nan=True) if close else torch.equal(one, other)
    return SAME if same else OTHER


def same_random_numbers() -> Callable[[], None]:
    """Return what sets Python's, NumPy's and torch's own generators back to where they are now."""
    import torch

    before = random.getstate(), np.random.get_state(), torch.get_rng_state()

    def set_back() -> None:
        random.setstate(before[0])
        np.random.set_state(before[1])
        torch.set_rng_state(before[2])

    return set_back
