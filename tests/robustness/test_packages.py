"""Each verb on functions of public packages: an exhibit of a bearable size, or one clear sentence.

A sample of verbs and calls is drawn, a larger one where COURSE_SAMPLES is `whole`.
"""

import random
from contextlib import nullcontext, redirect_stderr, redirect_stdout
from io import StringIO
from itertools import product

import pytest

import helpers
from tests.robustness import packages
from tests.robustness.rendering import rendered, unfit
from tests.samples import sample

pytestmark = pytest.mark.long

WIDEST, MOST_TEXT, MOST_HTML, MOST_STATE = 110, 500_000, 650_000, 800_000


def names_of(fn):
    inner = fn  # noqa: F841
    return helpers.show_names("fn", "inner")


def rebound(fn):
    with helpers.rebind_everywhere(fn, lambda *args: 1) as block:
        pass
    return helpers.show_table("T", {"kept": str(block.changed)[:1000]})


AT_REST = {
    "show_code": helpers.show_code,
    "show_bytecode": helpers.show_bytecode,
    "show_bindings": helpers.show_bindings,
    "show_binding_map": helpers.show_binding_map,
    "show_evaluator": helpers.show_evaluator,
    "show_names": names_of,
}
RUNS = {
    "watch_stack": helpers.watch_stack,
    "watch_frames": helpers.watch_frames,
    "watch_names": helpers.watch_names,
    "watch_hooked": helpers.watch_hooked,
    "watch_tracers": helpers.watch_tracers,
    "watch_specialising": lambda fn, *args: helpers.watch_specialising(fn, {"a": args}, times=2),
    "watch_costs": lambda fn, *args: helpers.watch_costs(fn_of(fn, args), {"a": fn_of(fn, args)}),
    "watch_call": helpers.watch_call,
    "watch_ops": helpers.watch_ops,
    "watch_callers": lambda fn, *args: helpers.watch_callers(
        {"r": fn_of(fn, args)}, lambda route: type(route()).__name__, {"i": nullcontext}
    ),
    "watch_routes": lambda fn, *args: helpers.watch_routes(
        fn, repr, {"r": lambda: "x"}, {"r": lambda: fn}, {"i": nullcontext}
    ),
}
OF_TORCH = {
    "watch_compile": helpers.watch_compile,
    "watch_breaks": helpers.watch_breaks,
    "watch_rewriting": helpers.watch_rewriting,
    "show_compiled": lambda fn, *args: helpers.show_compiled(fn),
    "watch_recompiles": lambda fn, *args: live(helpers.watch_recompiles(fn), args),
    "show_grad_fn": lambda fn, *args: helpers.show_grad_fn(fn(*args)),
}


def fn_of(fn, args):
    return lambda: fn(*args)


def live(exhibit, args):
    exhibit(*args)
    return exhibit


def faults(run) -> list[str]:
    """Return what is wrong with what a verb gave."""
    quiet = StringIO()
    try:
        with redirect_stdout(quiet), redirect_stderr(quiet):
            text, html, state = rendered(run())
    except Exception as error:
        return [words] if (words := unfit(error)) else []
    lines = text.splitlines()
    found = {
        f"{max(map(len, lines), default=0)} columns": any(len(line) > WIDEST for line in lines),
        "no fact below the title": len([line for line in lines if line.strip()]) < 2,
        f"{len(text)} characters of text": len(text) > MOST_TEXT,
        f"{len(html)} of HTML": len(html) > MOST_HTML,
        f"{state} of state": state > MOST_STATE,
        f"it printed {quiet.getvalue()[:60]!r}": bool(quiet.getvalue()),
    }
    return [words for words, wrong in found.items() if wrong]


def tried(verbs, calls, few) -> dict:
    """Return (verb, call) -> what is wrong, of a sample of the pairs."""
    pairs = list(product(verbs, calls))
    drawn = random.Random(17).sample(pairs, min(len(pairs), sample(few, 2 * few)))
    found = {(v, c): faults(lambda v=v, c=c: verbs[v](*calls[c])) for v, c in drawn}
    return {pair: wrong for pair, wrong in found.items() if wrong}


def test_verbs_on_packages():
    calls = {name: call[:1] for name, call in packages.CALLS.items()}
    assert not tried(AT_REST, calls, 40)
    assert not tried({"rebind_everywhere": rebound}, calls, 6)
    assert not tried(RUNS, packages.CALLS, 60)


def test_verbs_of_torch_and_of_ops_on_torchs_own_modules():
    verbs = OF_TORCH | {name: RUNS[name] for name in ("watch_call", "watch_ops", "watch_stack")}
    assert not tried(verbs, packages.tensors(), 10)
