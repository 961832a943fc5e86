"""Models of other people: places are theirs, no compile is a hit, what is unwrapped is said."""

import dis
import functools
import inspect
import re

import pytest

from helpers import show_guards, watch_breaks, watch_compile, watch_recompiles, watch_rewriting
from helpers.capture.cpython.wrapper_layers import COMPILED
from helpers.capture.torch.cache_entries import format_entry_count
from helpers.capture.torch.call_verdicts import NO_ENTRY, OTHER_PART_RAN
from helpers.capture.torch.dynamo_call import record_translation
from helpers.capture.torch.dynamo_run import find_compilable

torch = pytest.importorskip("torch")
from tests.capture import dynamo_models as models  # noqa: E402
from tests.capture.dynamo_programs import toy  # noqa: E402

pytestmark = [pytest.mark.own_process(sharing="torch"), pytest.mark.filterwarnings("ignore")]
NAMED = "LOAD_FAST", "LOAD_GLOBAL", "LOAD_ATTR"
AT = re.compile(r"(\w+), line (\d+) \((\w+\.py):(\d+)\)")


@functools.cache
def breaks(name):
    fn, args = models.made(name)
    return watch_breaks(fn, *args).model


@pytest.mark.parametrize("name", models.MODELS)
def test_a_step_lies_where_its_instruction_does(name):
    fn, args = models.made(name)
    run = watch_compile(fn, *args).model
    lines = run.source.split("\n")
    steps = [step for step in run.steps if step.argrepr.isidentifier()]
    loads = [step for step in steps if step.opname in NAMED and step.span[0]]
    assert loads
    for step in loads:
        line, column, end, end_column = step.span
        words = lines[line - 1][column : end_column if end == line else None]
        assert re.search(rf"\b{step.argrepr}\b", words) and line <= step.line <= end, step.label


@pytest.mark.parametrize("name", models.MODELS)
def test_an_offset_is_that_of_the_code_or_is_not_told(name):
    fn, args = models.made(name)
    inside = find_compilable(fn, "")
    events = record_translation(inside.call, inside.function, args).events
    told = [event for event in events if event.kind == "instruction" and event.offset >= 0]
    assert told
    for event in told:
        real = next(i for i in dis.get_instructions(event.code) if i.offset == event.offset)
        assert (real.opname, tuple(real.positions)) == (event.opname, event.positions)


@pytest.mark.parametrize("name", models.MODELS)
def test_breaks_are_those_that_torch_explains_with_file_line_and_code(name):
    fn, args = models.made(name)
    model, explained = breaks(name), torch._dynamo.explain(find_compilable(fn, "").call)(*args)
    assert model.graphs == explained.graph_count
    ended = [row for row in model.rows if not row.empty and not row.given_up]
    assert len(ended) == len(explained.break_reasons)
    differs = explained.graph_break_count != model.breaks
    words = f"torch._dynamo.explain reports {explained.graph_break_count}: the number of graphs"
    assert (words in model.note) == differs
    for row in breaks(name).rows:
        where, own, file, line = AT.search(row.place).groups()
        home = inspect.getsourcefile(torch.optim.Optimizer if file == "optimizer.py" else models)
        with open(home) as text:
            lines = text.read().split("\n")
        assert home.endswith(file) and lines[int(line) - 1].strip() and row.line
        function = lines[int(line) - int(own) : int(line)]  # from its decorators on
        assert any(f"def {where}(" in words for words in function)
        assert row.code in (line.strip() for line in lines)


def test_a_break_in_a_submodule_is_told_at_its_own_line():
    one_line = inspect.getsource(models.OneLine.forward).strip()
    for name, found in {
        "forward in forward": {
            "Outer.forward, line 5": "return self.inner(y) * 3",
            "OneLine.forward, line 1": one_line,
        },
        "three blocks": {
            "Blocks.forward, line 4": "x = block(x)",
            "Item.forward, line 3": "scale = y.sum().item()",
        },
    }.items():
        assert [(r.place.partition(" (")[0], r.code) for r in breaks(name).rows] == [*found.items()]


def ledger(fn, *calls):
    """Return the watched function and its ledger; each row is held against torch's graphs."""
    torch._dynamo.reset()
    live, stats = watch_recompiles(fn), torch._dynamo.utils.counters["stats"]
    for args in calls:
        before = stats["unique_graphs"]
        live(*args)
        compiled = live.model.verdicts[-1] in ("compile", "recompile")
        assert compiled == (stats["unique_graphs"] > before)
    return live, live.model


@pytest.mark.parametrize("optimizer", [torch.optim.SGD, torch.optim.Adam])
def test_a_training_step_compiles_again_for_a_short_batch(optimizer):
    step = models.training_step(optimizer)
    for _ in range(2):  # a second ledger starts afresh, also with sizes of resume functions
        _, model = ledger(step, *models.batches())
        assert model.verdicts == ("compile", "hit", "recompile", "hit")
        for name, line in zip("xy", model.entries[2].note.split("\n"), strict=True):
            words = f"step, resumed (dynamo_models.py:96): {name}: size mismatch at index 0. "
            assert line.startswith(f"{words}expected 5, actual 7")


def test_a_resume_function_and_what_is_called_count():
    a, b = torch.randn(10), torch.ones(10)
    _, model = ledger(toy, (a, b), (a, -b), (a, -b))
    assert model.verdicts == ("compile", "compile", "hit")
    assert model.entries[1].note == f"toy, resumed (dynamo_programs.py:16): {NO_ENTRY}"
    _, model = ledger(models.Blocks(), (a,), (a,))
    assert "forward (dynamo_models.py:" in model.entries[0].note


def test_the_limit_of_what_is_called_is_told():
    with torch._dynamo.config.patch(recompile_limit=2):
        live = watch_recompiles(models.talks)
        live.each(*((torch.ones(2), "a" * n) for n in range(4)))
    assert live.model.verdicts == ("compile", "recompile", "eager", "eager")
    called, part = (entry.note.split("\n")[0] for entry in live.model.entries[2:])
    assert called.startswith("recompile_limit is 2") and part.startswith("recompile_limit is 2")
    assert called != part


PEELED = {
    **dict.fromkeys(("super", "compiled module"), "Rectified"),
    **{"BERT": "BertModel", "decorated": "decorator", "partial": "partial", "method": ""},
}


@pytest.mark.parametrize("name", models.MODELS)
def test_a_call_that_makes_a_graph_is_no_hit_and_guards_are_those_of_the_function_inside(name):
    fn, args = models.made(name)
    live, model = ledger(fn, args, args, args)
    if name == "three blocks":  # a break in its loop: torch marks its forward, not what it calls
        assert model.verdicts == ("compile", "eager", "eager")
        assert OTHER_PART_RAN in model.entries[1].note
    else:
        assert model.verdicts == ("compile", "hit", "hit")
    if name in PEELED:
        graph = show_guards(live).model
        assert graph.guards and format_entry_count(1) in model.note
        assert PEELED[name] in graph.note and PEELED[name] in model.note
        assert show_guards(live, call=args).model.accepts


def test_a_compiled_module_is_looked_at_in_every_form():
    module = models.Rectified()
    compiled, args = torch.compile(module, backend="eager"), (models.x(),)
    compiled(*args)
    notes = {show_guards(form).model.note for form in (module, compiled, compiled.forward)}
    assert len(notes) == 1 and "Rectified" in notes.pop()
    assert ledger(compiled, args, args)[1].verdicts == ("compile", "hit")


def test_hooks_of_a_module_run_as_ever():
    normed = torch.nn.utils.weight_norm(torch.nn.Linear(4, 4))
    x, seen = models.x(), []
    normed.register_forward_hook(lambda module, args, result: seen.append(module))
    assert torch.equal(watch_recompiles(normed)(x), normed(x))
    assert seen == [normed, normed] and "forward" not in vars(normed)


def doubles(module, args, result):
    return result * 2


def halves_first(module, args):
    return tuple(one / 2 for one in args)


@pytest.mark.parametrize("place", ["the whole", "a layer"])
def test_hooks_of_the_user_are_shown_also_inside_a_module_of_torch(place):
    net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU())
    hooked = net if place == "the whole" else net[0]
    hooked.register_forward_hook(doubles)
    hooked.register_forward_pre_hook(halves_first)
    model = watch_compile(net, models.x()).model
    for hook in (doubles, halves_first):
        assert inspect.getsource(hook).strip() in model.source, model.note


@pytest.mark.parametrize("verb", [watch_compile, watch_breaks, watch_rewriting])
def test_what_was_peeled_off_is_said(verb):
    notes = {name: verb(*(lambda fn, args: (fn, *args))(*models.made(name))).model.note
             for name in ("super", "decorated", "compiled")}  # fmt: skip
    assert "Rectified" in notes["super"]
    assert "decorator" in notes["decorated"]
    assert COMPILED in notes["compiled"] or verb is watch_rewriting


@pytest.mark.parametrize("verb", [watch_compile, watch_breaks, watch_recompiles])
def test_what_runs_on_tensorflow_is_refused(verb):
    keras = pytest.importorskip("keras")
    layer = keras.layers.Dense(2)
    for fn in (layer, layer.call, keras.Sequential([layer]).fit):
        with pytest.raises(TypeError, match="TensorFlow") as caught:
            verb(fn, torch.ones(2)) if verb is not watch_recompiles else verb(fn)
        assert "\n" not in str(caught.value)
