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


@pytest.mark.parametrize("named", ["source", 'f"x{len(self.inputs)}"', 'f"arg{id(source)}"'])
def test_recorder_that_names_its_inputs_otherwise_is_told_how(named):
    solution = folded.EXERCISES["dynamo_recorder"].solution
    recorder = edited(solution, 'f"arg{len(self.inputs)}"', named)
    outcome = check.dynamo_recorder(learnt(recorder, "Recorder")).model
    assert "should be named arg0" in outcome.because


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
    solution = folded.EXERCISES["dynamo_guards"].solution
    mistake = edited(solution, '            f"{source}.dtype is {value.dtype}",\n', "")
    because = check.dynamo_guards(learnt(mistake, "guards")).model.because
    assert "Here by_dtype is: return x * 2 if x.dtype" in because


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


def test_a_class_of_callbacks_is_as_good_as_a_function_that_makes_them():
    class Callback:
        def __init__(self, seen, codes, stand_ins):
            self.seen, self.known = seen, {**stand_ins, **codes}

        def __call__(self, code, values):
            self.seen.append((code.co_name, values))
            return self.known.get(code)

    outcome = check.hook_callback(Callback).model
    assert outcome.state == "passed", outcome.because
