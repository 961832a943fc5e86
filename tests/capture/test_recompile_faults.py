"""An error of ours beside a call stays ours: result, exception and slot are the plain ones.

Each function that the ledger runs during a call fails once, at a place that is drawn.
"""

import functools
import gc
import logging
import random
import sys
from types import FunctionType

import pytest

from helpers import (
    guard_function,
    show_guards,
    watch_guard_sets,
    watch_recompiles,
    watching_recompiles,
)
from helpers.capture.torch import (
    backend_failures,
    cache_entries,
    call_verdicts,
    compiled_call_reasons,
    compiled_calls,
    compiled_copy,
    compiled_function,
    compiles_in_block,
    dynamic_sizes,
    failure_words,
    frame_arguments,
    frame_words,
    guard_failures,
    guard_leaves,
    guard_side_effects,
    guard_tree,
    guard_words,
    leaf_failures,
    recompiles,
    setting_differences,
    tensor_differences,
    value_words,
    watched_call,
)
from helpers.capture.torch.guard_leaves import LeafGuard
from helpers.internals import dynamo_codes, frame_callback, torch_private
from helpers.mini.frame_hook import slot
from helpers.model import guard_failures as failure_records
from helpers.model import guard_records
from tests.samples import sample

pytestmark = [pytest.mark.own_process(sharing="torch"), pytest.mark.filterwarnings("ignore")]
torch = pytest.importorskip("torch")
MODULES = (
    backend_failures,
    cache_entries,
    call_verdicts,
    compiled_call_reasons,
    compiled_calls,
    compiled_copy,
    compiled_function,
    compiles_in_block,
    dynamic_sizes,
    failure_words,
    frame_arguments,
    frame_words,
    guard_failures,
    guard_leaves,
    guard_side_effects,
    guard_tree,
    guard_words,
    leaf_failures,
    recompiles,
    setting_differences,
    tensor_differences,
    value_words,
    watched_call,
    failure_records,
    guard_records,
)
CLASSES = (
    watched_call.WatchedCall,
    call_verdicts.CallJudge,
    compiles_in_block.CompilesInBlock,
    compiled_calls.CompiledCalls,
    compiled_calls.RunningCall,
    LeafGuard,
)
# what runs the user's call itself, what keeps our errors from it, and what is asked after it
THE_CALL = {"_call_with_forward", "begin", "end", "watching", "model", "watch_function"}


class InjectedError(RuntimeError):
    pass


# a fault in them is taken for one of a user's value, which has no such part then
OF_A_VALUE = "evaluate_part", "is_failing"


class Faults:
    """Make the `fails_at`-th call of one of our functions fail, while `armed`."""

    def __init__(self, monkeypatch, fails_at):
        self.count, self.fails_at, self.armed, self.name = 0, fails_at, False, ""
        self.is_of_a_value = self.is_of_a_reason = False
        self.calls = self.failed_call = 0  # how many were begun while armed
        home = [one for name, one in sys.modules.items() if name.startswith("helpers.")]
        for module in MODULES:
            for name, function in [*vars(module).items()]:
                if type(function) is FunctionType and function.__module__ == module.__name__:
                    self._replace(monkeypatch, home, name, function)
        for owner in CLASSES:
            for name, method in [*vars(owner).items()]:
                if type(method) is FunctionType and name not in THE_CALL and name != "__init__":
                    monkeypatch.setattr(owner, name, self._faulty(name, method))

    def _replace(self, monkeypatch, home, name, function):
        if name in THE_CALL:
            return
        faulty = self._faulty(name, function)
        for module in home:
            if vars(module).get(name) is function:
                monkeypatch.setattr(module, name, faulty)

    def _faulty(self, name, function):
        @functools.wraps(function)
        def failing(*args, **kwargs):
            if self.armed:
                self.count += 1
                if self.count == self.fails_at:
                    self.name = name
                    below = sys._getframe(1)
                    self.is_of_a_value = name in OF_A_VALUE or is_within(OF_A_VALUE, below)
                    self.is_of_a_reason = is_within(("explain_recompile",), below)
                    self.failed_call = self.calls
                    raise InjectedError(name)
            return function(*args, **kwargs)

        return failing


def is_within(names, frame) -> bool:
    """Return whether a frame, or one that called it, runs one of these functions."""
    while frame is not None:
        if frame.f_code.co_name in names:
            return True
        frame = frame.f_back
    return False


def picky(x, n, names):
    if n == 13:
        raise ValueError("unlucky")
    return x * n + len(names)


def fresh_class():
    return type("Fresh", (), {"k": 3})


X = torch.ones(2)
ACCEPTS_ALL = {"all": lambda *args, **kwargs: True}
CALLS = ((X, 1, ["a"]), (X, 1, ["a"]), (X, 2, []), (X, 13, []), (torch.ones(3), 2.5, ["b"]))


def outcome(fn, args):
    try:
        return fn(*args).tolist()
    except Exception as error:
        return type(error), str(error), error.__cause__ is None


def process_state():
    """Return what a verb might leave behind."""
    door = sys.modules["torch._C._dynamo.eval_frame"]
    hook = door.set_guard_complete_hook(None)
    door.set_guard_complete_hook(hook)
    logger = logging.getLogger("torch._dynamo.convert_frame")
    entrance = torch_private.convert_frame.CatchErrorsWrapper._handle_skip
    reasons = torch_private.convert_frame.get_and_maybe_log_recompilation_reasons
    noting = torch_private.dynamo_utils.add_compilation_metrics_to_chromium
    start = sys.modules["torch._dynamo.eval_frame"]._callback_from_stance
    slots = slot.address_installed(), frame_callback.read_frame_callback()
    return slots, hook, entrance, reasons, noting, start, [*logger.filters], [*logger.handlers]


def run(monkeypatch, fails_at, form):
    """Return outcomes of the calls, the faults, and the model at the end."""
    torch._dynamo.reset()
    with monkeypatch.context() as patch:
        faults = Faults(patch, fails_at)
        if form == "function":
            live, seen = watch_recompiles(picky, dynamic=False), None
            found = [armed(faults, live, args) for args in CALLS]
            return found, faults, live
        compiled = torch.compile(picky, backend="eager", dynamic=False)
        with watching_recompiles() as seen:
            found = [armed(faults, compiled, args) for args in CALLS]
        return found, faults, seen


def armed(faults, fn, args):
    faults.armed, faults.calls = True, faults.calls + 1
    try:
        return outcome(fn, args)
    finally:
        faults.armed = False


@pytest.mark.parametrize("form", ["function", "block"])
def test_no_error_of_the_ledger_reaches_a_users_call(monkeypatch, form):
    plain = [outcome(picky, args) for args in CALLS]
    found, faults, exhibit = run(monkeypatch, 0, form)  # nothing fails
    assert found == plain and "unknown: noting" not in repr(exhibit)
    before, number = process_state(), faults.count
    assert number > 100
    for fails_at in random.Random(form).sample(range(1, number + 1), sample(14, number)):
        found, faults, exhibit = run(monkeypatch, fails_at, form)
        assert found == plain, (fails_at, faults.name)
        assert process_state() == before, (fails_at, faults.name)
        assert is_told(faults, exhibit, form), (fails_at, faults.name, exhibit.text())


def is_told(faults, exhibit, form) -> bool:
    """Return whether the exhibit tells of a fault, or shows nothing that the fault could change."""
    told = f"unknown: noting what Dynamo did failed (InjectedError: {faults.name}"
    text = " ".join(exhibit.text().split())
    if not faults.name or told in text or faults.is_of_a_value:
        return True
    if faults.is_of_a_reason and form == "function":
        row = exhibit.model.entries[faults.failed_call - 1]
        if row.verdict == "error":  # it shows the error, and no reason for which Dynamo compiled
            return True
    return guard_words.QUOTE in text  # where our reasons fail, torch's are quoted


def test_an_entry_that_dynamo_drops_is_no_error():
    live = watch_recompiles(lambda x, o: x * o.k)
    for _ in range(4):
        assert live(X, fresh_class()()).tolist() == [3.0, 3.0]
        gc.collect()
    assert "error" not in live.model.verdicts


def test_ten_modules_of_torch_use_up_nothing():
    torch._dynamo.reset()
    state = process_state()
    mine = torch.compile(torch.nn.Linear(2, 2), backend="eager")
    mine(X)
    shared = mine.forward._torchdynamo_orig_callable.__code__
    kept = len(dynamo_codes.read_cache_entries(shared))
    sizes = dict(torch_private.get_code_state())
    for _ in range(10):
        step = watch_recompiles(torch.nn.Linear(2, 2))
        assert step.each((X,), (torch.ones(3, 2),)) == "compile recompile"
        assert step.model.title == "Calls of Linear" and "1 entry" not in step.model.note
    assert "input: rank mismatch. expected 1, actual 2" in step.model.entries[1].note
    assert len(dynamo_codes.read_cache_entries(shared)) == kept and process_state() == state
    assert dict(torch_private.get_code_state()) == sizes
    with watching_recompiles() as seen:
        mine(X)
        torch.compile(torch.nn.Linear(2, 2), backend="eager")(torch.ones(3, 2))
    assert seen.model.compiled_calls == seen.model.calls == 2
    (row,) = seen.model.entries
    assert row.verdicts[0].word.startswith("Linear (linear.py:")
    assert "\nin call 1 (test_recompile_faults.py:" in row.note and "args[" not in row.note


def test_guard_verbs_leave_a_users_function_as_it_is():
    torch._dynamo.reset()
    mine = torch.compile(picky, backend="eager")
    mine(X, 1, ["a"]), mine(torch.ones(3), 1, ["a"])
    code = picky.__code__
    kept, sizes = dynamo_codes.read_cache_entries(code), dict(torch_private.get_code_state())
    state, met = process_state(), len(dynamo_codes.read_cache_entries(code))
    for _ in range(10):
        assert show_guards(mine).model.guards
        assert show_guards(mine, call=(X, 1, ["a"])).model.torch_accepts
        assert guard_function(mine)(X, 1, ["a"]) and not guard_function(mine)(X, 2, ["a"])
        assert watch_guard_sets(picky, X, 1, ["a"], guard_sets=ACCEPTS_ALL).model.entries
        live = watch_recompiles(picky)
        live(X, 1, []), live(X, 2, [])
    assert [*dynamo_codes.read_cache_entries(code)] == [*kept] and met == len(kept)
    assert dict(torch_private.get_code_state()) == sizes and process_state() == state
    with watching_recompiles() as seen:
        mine(X, 1, ["a"]), mine(torch.ones(3), 1, ["a"])
    assert (seen.model.compiles, seen.model.compiled_calls) == (0, 2)


def test_guards_of_a_module_of_torch_use_up_nothing():
    torch._dynamo.reset()
    mine = torch.compile(torch.nn.Linear(2, 2), backend="eager")
    mine(X)
    shared = mine.forward._torchdynamo_orig_callable.__code__
    for _ in range(3):
        found = watch_guard_sets(torch.nn.Linear(2, 2), X, guard_sets=ACCEPTS_ALL)
        assert "refuses" in {entry.verdicts[1].word for entry in found.model.entries}
    assert len(dynamo_codes.read_cache_entries(shared)) == 1


def test_a_mode_of_the_user_hears_nothing_of_the_ledger():
    heard = []

    class Listening(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            heard.append(getattr(function, "__name__", ""))
            return function(*args, **(kwargs or {}))

    def calls(fn):
        torch._dynamo.reset()
        heard.clear()
        with Listening():
            fn(X), fn(X), fn(X.double())
        return [*heard]

    plain = calls(torch.compile(lambda x: x * 2, backend="eager"))
    assert calls(watch_recompiles(lambda x: x * 2)) == plain
    with watching_recompiles():
        assert calls(torch.compile(lambda x: x * 2, backend="eager")) == plain
