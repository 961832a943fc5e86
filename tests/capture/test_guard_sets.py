"""The search finds what is too lax and what is too strict, and the real guards are torch's."""

from types import FunctionType

import pytest

from helpers import watch_guard_sets
from helpers.capture.torch.compiler_guards import DynamoGuards, MiniDynamoGuards
from helpers.capture.torch.tried_calls import list_neighbours

pytestmark = pytest.mark.own_process(sharing="torch")
torch = pytest.importorskip("torch")

SCALE = 1.5


def scaled(x, n, names):
    return x * n * SCALE + len(names)


def both(x, y):
    return x + y


def picked(x, options):
    return x * 2 if options["on"] else x + options["by"]


CASES = {
    "scaled": (scaled, (torch.ones(3), 2, ["a", "b"])),
    "both": (both, (torch.ones(2, 2), torch.zeros(2, 2))),
    "picked": (picked, (torch.ones(3), {"on": False, "by": 2.5})),
}


@pytest.mark.parametrize("name", CASES)
def test_real_guards_accept_what_torch_does_not_recompile(name):
    fn, first = CASES[name]
    real = DynamoGuards(fn, *first)
    for call in list_neighbours(real.function, real.first_arguments):
        with call.make_context(), torch.compiler.set_stance("fail_on_recompile"):
            accepted = real(**call.arguments)
            try:
                real.compiled(**call.arguments)
            except RuntimeError:
                assert not accepted, call.change
            else:
                assert accepted, call.change


def test_both_kinds_of_counter_example_are_found():
    fn, first = CASES["scaled"]
    accepts_all = {"mine": lambda x, n, names: True}
    lax = watch_guard_sets(fn, *first, guard_sets=accepts_all).model
    accepts_none = {"mine": lambda x, n, names: False}
    strict = watch_guard_sets(fn, *first, guard_sets=accepts_none).model
    assert {e.verdicts[0].word for e in lax.entries} == {"accepts"}
    assert "n = 3" in lax.subjects("accepts", "mine")
    assert any(call.startswith("x ") for call in strict.subjects("refuses", "mine"))


def test_a_guard_set_that_raises_is_said_to():
    _, first = CASES["both"]
    found = watch_guard_sets(both, *first, guard_sets={"mine": lambda x, y: 1 / 0}).model
    assert found.entries[0].verdicts[0].word == "raises"
    assert "ZeroDivisionError" in found.entries[0].note


def test_the_mini_dynamo_is_never_laxer_where_results_differ():
    for fn, first in ((scaled, CASES["scaled"][1]), (both, CASES["both"][1])):
        real, mini = DynamoGuards(fn, *first), MiniDynamoGuards(fn, *first)
        for call in list_neighbours(fn, real.first_arguments):
            with call.make_context():
                if mini.find_failing_guard(**call.arguments) is None:
                    unguarded = FunctionType(real.entry.code, fn.__globals__)
                    stale, fresh = unguarded(**call.arguments), fn(**call.arguments)
                    assert torch.equal(stale, fresh) and stale.dtype == fresh.dtype


def test_a_first_call_that_does_not_succeed_is_refused_in_a_sentence(refused):
    def divides(x):
        return 1 / 0

    def search(fn, *args):
        return watch_guard_sets(fn, *args, guard_sets={"mine": lambda **given: True})

    x, words = torch.ones(2), "both.. cannot be called with these: missing"
    refused(ValueError, "must succeed, and it raised", search, divides, x)
    refused(ValueError, "must succeed, and it raised", search, both, x, object())
    refused(TypeError, words, search, both, x)


def _state_of_dynamo():
    from torch._dynamo import convert_frame
    from torch._dynamo.utils import counters

    kept = {name: dict(found) for name, found in counters.items() if found}
    return kept, convert_frame.FRAME_COUNTER, torch.get_rng_state().tolist()


def _noisy(x):
    return x * torch.rand(3)


def _reads_an_item(x):
    return [x.sum().item()]


def _does_nothing(x):
    return x


@pytest.mark.parametrize("fn", [_noisy, both, _reads_an_item, _does_nothing])
@pytest.mark.parametrize("own", [None, {"mine": lambda *args, **kwargs: True}])
def test_the_search_leaves_no_count_of_dynamo_and_no_output(fn, own, capfd):
    users = torch.compile(lambda x: x * 3, backend="eager")
    users(torch.ones(3))
    before = _state_of_dynamo()
    args = (torch.ones(3), torch.zeros(3)) if fn is both else (torch.ones(3),)
    try:
        watch_guard_sets(fn, *args, guard_sets=own)
    except LookupError:
        assert fn in (_reads_an_item, _does_nothing)
    assert _state_of_dynamo() == before
    assert capfd.readouterr().err == ""
    with torch.compiler.set_stance("fail_on_recompile"):
        users(torch.ones(3))
