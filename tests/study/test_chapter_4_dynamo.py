"""The steps of the mini-Dynamo and the cache: finished parts pass, stubs are untried."""

import pytest

pytestmark = [pytest.mark.own_process(sharing="torch"), pytest.mark.filterwarnings("ignore")]

torch = pytest.importorskip("torch")

from helpers import check  # noqa: E402
from helpers.mini import dynamo  # noqa: E402
from tests.study import folded  # noqa: E402
from tests.study.mistakes import edited  # noqa: E402

STEPS = ("binary_op", "recorder", "guards", "lookup", "receives")
NAMES = (*(f"dynamo_{step}" for step in STEPS), "evicting_cache")


def learnt(source, name):
    space = {}
    exec(compile(source, "<answer>", "exec"), space)
    return space[name]


@pytest.mark.parametrize("name", STEPS)
def test_finished_part_passes(name):
    outcome = getattr(check, f"dynamo_{name}")(getattr(dynamo.PARTS, name)).model
    assert outcome.state == "passed", outcome.because


@pytest.mark.parametrize("name", NAMES)
def test_what_gives_an_ellipsis_is_untried(name):
    class Stub:
        def __init__(self, *args):
            self.graph, self.inputs = torch.fx.Graph(), {}

        find = add = input = call = lambda self, *args: ...

    stub = Stub if name in ("dynamo_recorder", "evicting_cache") else lambda *args: ...
    assert getattr(check, name)(stub).model.state == "untried"


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("wrong", [3, "binary_op", None, print, int])
def test_what_is_no_answer_is_refused_in_words(name, wrong):
    assert getattr(check, name)(wrong).model.state in ("failed", "untried")


NAMED = ("source", 'f"x{len(self.inputs)}"', 'f"mul{len(self.inputs)}"')


@pytest.mark.parametrize("named", NAMED)
def test_recorder_may_name_its_inputs_as_it_likes(named):
    solution = folded.EXERCISES["dynamo_recorder"].solution
    recorder = edited(solution, 'f"arg{len(self.inputs)}"', named)
    outcome = check.dynamo_recorder(learnt(recorder, "Recorder")).model
    assert outcome.state == "passed", outcome.because


def test_recorder_that_is_made_already_is_asked_for_as_a_class():
    assert "the class itself" in check.dynamo_recorder(dynamo.PARTS.recorder()).model.because


def test_lookup_that_gives_guards_is_told_in_a_sentence():
    def lookup(entries, values):
        return None, [entry.guards[0] for entry in entries]

    because = check.dynamo_lookup(lookup).model.because
    assert "append guard.text" in because and len(because) < 200


def test_guard_is_shown_by_its_text_alone():
    guard = dynamo.entry_for(lambda x, k: x * k, torch.ones(2), 2).guards[-1]
    assert repr(guard) == f"Guard(text={guard.text!r})"


def test_program_of_a_wrong_verdict_is_shown():
    solution = folded.EXERCISES["dynamo_binary_op"].solution
    mistake = edited(solution, "fn, left, right)", "fn, right, left)")
    because = check.dynamo_binary_op(learnt(mistake, "binary_op")).model.because
    assert because.endswith("Here minus is: return x - y * 2")


RATE = 1.5


def priced(x, y, n, names, options):
    total = x * n * RATE + y + len(names)
    return total.round() if options["round"] else total


def broken(change):
    first = {"x": torch.ones(3), "y": torch.zeros(3), "n": 2, "names": ["a", "b"]}
    first["options"] = {"round": False}
    space = {"first": first, "torch": torch}
    exec(edited(folded.EXERCISES["guard_breaker"].solution, "torch.no_grad()", change), space)
    return check.guard_breaker(space["breakers"], priced, first).model


@pytest.mark.parametrize("change", ["torch.no_grad", "torch.no_grad()"])
def test_context_manager_may_be_made_or_not(change):
    outcome = broken(change)
    assert outcome.state == "passed", outcome.because


def test_context_manager_that_was_made_is_judged_by_the_guards():
    assert "this change fails 3 guards" in broken('torch.autocast("cpu")').because


def test_what_makes_no_context_manager_is_told():
    assert "gives no context manager" in broken("dict").because


def test_callback_that_fails_is_told_by_its_own_error():
    def make_callback(seen, codes, stand_ins):
        return lambda code, values: 1 / 0

    because = check.hook_callback(make_callback).model.because
    assert "ZeroDivisionError" in because and "neither" not in because
