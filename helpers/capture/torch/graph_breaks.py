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
from helpers.safety import progress
from helpers.safety.arguments import quote_value, real_isinstance, table
from helpers.safety.restoring import redirected, running_user_code

MOST_SHOWN, MOST_CASES = 8, 200
MARKS = ("changed", "fewer graph breaks than before"), ("failed", "not as without the cure")
NOT_KNOWN = "only the results' own code could say whether they are the same"
HEADINGS = ("graphs before", "graphs after", "result", "gradient")
_PLAIN = (int, float, complex, bool, str, bytes, type(None))


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
    return Ledger("Graph breaks and their cures", "case", HEADINGS, entries, marks=MARKS)


def _entry(name, pair, args) -> Entry:
    set_back = same_random_numbers()

    def both(run):
        found = []
        for fn in pair:
            set_back()
            found.append(run(fn))
        return found

    (before, _), (after, kept) = both(
        lambda fn: watched(fn, copied(args), None, "watch_fixes", steps=0)
    )
    wanted, plain = both(lambda fn: _run_quietly(fn, args))
    compiled = kept.value if kept.error is None else kept.error
    made = {"the cure": plain, "compiled, the cure": compiled}
    same = {who: compared(wanted, value) for who, value in made.items()}
    result, gradient, why = Verdict("same"), Verdict("not compared"), ""
    if who := next((who for who, verdict in same.items() if verdict is False), ""):
        result = Verdict("differs", "failed")
        why = f"{who} gives {_value_words(made[who])}, and the case {_value_words(wanted)}"
    elif None in same.values():
        result, why = Verdict("not compared"), NOT_KNOWN
    else:
        slopes = both(lambda fn: _run_quietly(lambda *new: _gradients(fn, new), args))
        if not any(real_isinstance(found, BaseException) for found in slopes):
            word = "same" if compared(*slopes) else "differs"
            if all(found is None for pair in slopes for found in pair):
                word = "none"
            gradient = Verdict(word, "failed" if word == "differs" else "plain")
    fewer = len(after.breaks) < len(before.breaks)
    graphs = [
        Verdict(f"{len(run.graphs)}{', given up' * any(b.given_up for b in run.breaks)}", tone)
        for run, tone in ((before, "plain"), (after, "changed" if fewer else "plain"))
    ]
    causes = [*dict.fromkeys(found.cause for found in before.breaks)] or ["it does not break"]
    causes += ["the cure has another gradient"] * (gradient.word == "differs")
    return Entry(name, (*graphs, result, gradient), why or "; ".join(causes))


def _gradients(fn, copies) -> tuple:
    """Return a gradient, or None, per plain floating tensor of the arguments."""
    import torch

    plain = [one for one in copies if type(one) is torch.Tensor and one.is_floating_point()]
    asked = [tensor.requires_grad_() for tensor in plain]
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
                return fn(*copied(args))
        except UNRAISABLE:
            raise
        except BaseException as error:
            return error


def _value_words(value) -> str:
    if real_isinstance(value, BaseException):
        return error_message(value)
    if tensors.is_tensor(value) and tensors.has_its_elements(value) and value.numel() <= MOST_SHOWN:
        value = value.double().round(decimals=3) if value.is_floating_point() else value
        return short_repr(value.tolist())
    return short_repr(value)


# ------------------------------------------------------------------ several runs of one program


def copied(values: tuple) -> tuple:
    """Return copies of arguments, as each run gets its own; TypeError for what has no copy."""
    values = [
        value.detach().requires_grad_()
        if tensors.is_tensor(value) and value.requires_grad and not value.is_leaf
        else value
        for value in values
    ]
    try:
        return tuple(copy.deepcopy(values))
    except Exception as error:
        raise TypeError(f"each run needs copies of the arguments: {error_message(error)}") from None


def compared(one, other) -> bool | None:
    """Return whether two results are the same, nearly; None where only their code could tell."""
    import torch

    if type(one) is not type(other):
        return False
    if real_isinstance(one, BaseException):
        return error_message(one) == error_message(other)
    if tensors.is_tensor(one):
        if tensors.words(one) != tensors.words(other):
            return False
        if not tensors.has_its_elements(one) or not tensors.has_its_elements(other):
            return one is other or None
        close = one.is_floating_point() or one.is_complex()
        return torch.allclose(one, other, equal_nan=True) if close else torch.equal(one, other)
    if type(one) is dict and one.keys() == other.keys():
        one, other = [*one.values()], [other[key] for key in one]
    if real_isinstance(one, list, tuple, dict):
        if real_isinstance(one, dict) or len(one) != len(other):
            return False
        found = [a is b or compared(a, b) for a, b in zip(one, other, strict=True)]
        return False if False in found else None if None in found else True
    if type(one) not in _PLAIN:
        return one is other or None
    return one == other or (one != one and other != other)


def same_random_numbers() -> Callable[[], object]:
    """Return what sets Python's, NumPy's and torch's own generators back to where they are now."""
    import torch

    states = (random.setstate, random.getstate()), (np.random.set_state, np.random.get_state())
    states += ((torch.set_rng_state, torch.get_rng_state()),)
    return lambda: [set_back(state) for set_back, state in states]
