"""Where nothing is compiled, the ledger and the block say so, and the recipe's test fails."""

import functools
import re

import pytest

from helpers import watch_recompiles, watching_breaks, watching_recompiles
from helpers.capture.torch import call_verdicts, compiled_call_reasons
from helpers.capture.torch.cache_entries import format_entry_count
from helpers.capture.torch.given_up import find_given_up
from helpers.internals import torch_private
from helpers.model.compile_records import CompileEntry, CompileLedger
from helpers.model.tables import Verdict
from tests.pythons import ROOT

pytestmark = [pytest.mark.own_process(sharing="torch"), pytest.mark.filterwarnings("ignore")]
torch = pytest.importorskip("torch")
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402

X = torch.ones(2)
NOT_LOOKED_AT = compiled_call_reasons.MARKED.partition("{")[0]  # before the name of the function


class Passing(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


def made():
    def scale(x, n=1):
        return x * n

    return scale


def returning():
    return lambda x: x


def disabled():
    return torch._dynamo.config.patch(disable=True)


def forced():
    return torch.compiler.set_stance("force_eager")


def once_within(mode):
    def calls(fn):
        with mode():
            fn(X)
        fn(X), fn(X)

    return calls


def after_a_limit(fn):
    with torch._dynamo.config.patch(recompile_limit=1):
        fn(X), fn(X.double()), fn(X.double())


def without_recompiles(fn):
    fn(X)
    with torch.compiler.set_stance("eager_on_recompile"):
        fn(X.double()), fn(X.double())


def thrice(fn):
    fn(X), fn(X), fn(X)


# what is compiled, how it is called -> calls in which compiled code ran, in which not, and why
EAGER = {
    "a call in a dispatch mode": (
        made,
        once_within(Passing),
        0,
        3,
        "non-infra torch dispatch mode",
    ),
    "config.disable": (made, once_within(disabled), 0, 3, "Dynamo tracing is disabled"),
    "force_eager": (made, once_within(forced), 2, 1, 'set_stance("force_eager")'),
    "the limit": (made, after_a_limit, 1, 2, "recompile_limit is 1"),
    "eager_on_recompile": (made, without_recompiles, 1, 2, "eager_on_recompile"),
    "no tensor op": (
        returning,
        thrice,
        0,
        3,
        f"{compiled_call_reasons.NOTHING_TO_COMPILE} <lambda>",
    ),
}


@pytest.mark.parametrize("name", EAGER)
def test_calls_that_ran_eager_are_counted_with_the_cause(name):
    make, calls, ran, eager, why = EAGER[name]
    torch._dynamo.reset()
    live = watch_recompiles(make())
    calls(live)
    assert (live.model.compiled_calls, live.model.eager) == (ran, eager), live
    rows = [row for row in live.model.entries if row.verdict == "eager"]
    assert rows and all(why in row.note for row in rows), live
    torch._dynamo.reset()
    with watching_recompiles() as seen:
        calls(torch.compile(make(), backend="eager"))
    model = seen.model
    assert (model.calls, model.compiled_calls, model.eager) == (ran + eager, ran, eager), seen
    assert why in model.note


def test_what_fails_in_torchs_shared_wrapper_turns_others_off_and_that_is_unknown():
    torch._dynamo.reset()
    with watching_recompiles() as first:
        torch.compile(torch.nn.LSTM(2, 2), backend="eager")(torch.ones(1, 2))
    (row,) = first.model.entries
    assert row.verdict == "eager" and row.verdicts[0].word.startswith("LSTM (rnn.py:")
    assert "Attempted to wrap RNN, GRU, or LSTM" in row.note and first.model.compiled_calls == 0
    net = torch.nn.Sequential(torch.nn.Linear(2, 2))
    compiled = torch.compile(net, backend="eager")
    with watching_recompiles() as seen:
        compiled(X)
    assert (seen.model.compiled_calls, seen.model.eager) == (0, 1)
    assert f"{NOT_LOOKED_AT}Sequential (" in seen.model.note
    assert compiled_call_reasons.SHARED_WRAPPER in seen.model.note
    live = watch_recompiles(net)  # a wrapper of its own
    assert live.each((X,), (X,)) == "compile hit"


def test_what_is_disabled_or_not_called_is_said():
    live = watch_recompiles(torch.compiler.disable(made()))
    live(X)
    assert call_verdicts.DISABLED in live.model.entries[0].note
    with watching_recompiles() as seen:
        torch.compile(made(), disable=True)(X)
    assert not seen.model.compiled_calls and compiled_call_reasons.NO_CALL in seen.model.note


def test_an_error_of_fullgraph_is_an_error_and_no_compiled_call():
    def breaks(x):
        torch._dynamo.graph_break()
        return x + 1

    torch._dynamo.reset()
    compiled = torch.compile(breaks, backend="eager", fullgraph=True)
    with watching_recompiles() as seen, pytest.raises(Exception, match="graph_break"):
        compiled(X)
    model = seen.model
    assert model.verdicts == ("error",)
    assert (model.calls, model.compiled_calls, model.eager) == (1, 0, 0)


def test_a_torch_that_does_not_tell_is_unknown(monkeypatch):
    monkeypatch.delattr(torch._C._dynamo.eval_frame, "set_guard_complete_hook")
    with watching_recompiles() as seen:
        torch.compile(made(), backend="eager")(X)
    assert seen.model.calls == 1 and seen.model.compiled_calls is None


@pytest.mark.parametrize("turned_off", [Passing, disabled, forced, None])
def test_the_recipes_test_fails_where_nothing_is_compiled(turned_off):
    section = (ROOT / "docs" / "recipes_torch.md").read_text("utf-8").split("\n## ")[1]
    code, test = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    code = code.partition("\nwith ")[0] + "\n\n" + test.rpartition("\ntest_")[0]
    code = code.replace("from whoruns import watching_breaks, watching_recompiles\n", "")
    space = {"watching_breaks": watching_breaks, "watching_recompiles": watching_recompiles}
    torch._dynamo.reset()
    exec(compile(code, "<recipe>", "exec"), space)
    if turned_off is None:
        space["test_the_loop_never_recompiles"]()
        return
    with turned_off(), pytest.raises(AssertionError):
        space["test_the_loop_never_recompiles"]()


def test_a_row_counts_as_it_says():
    rows = [CompileEntry(word, (Verdict("x"), Verdict(word))) for word in ("hit", "eager")]
    ledger = CompileLedger("Calls", "call", ("a", "b"), tuple(rows))
    assert ledger.eager == 1 and ledger.compiled_calls is None
    assert torch_private.describe_missing("guards") == ""


@torch.compiler.disable
def kept_out(x):
    return x + 1


def in_a_list(x):
    y = kept_out(x + 1)
    return next(iter([kept_out(y) for _ in range(2)])) + 1


def in_a_loop(x):
    for _ in range(2):
        x = kept_out(x * 2)
    return x


def calls_a_loop(x):
    y = (x + 1).sin()
    torch._dynamo.graph_break()
    return in_a_loop(y) + 1


@pytest.mark.parametrize("fn", [in_a_list, calls_a_loop])
@pytest.mark.parametrize("before", [0, 1, 2])
def test_what_an_earlier_call_gave_up_is_not_counted_as_compiled(fn, before):
    torch_private.reset()
    compiled = torch.compile(fn, backend="eager")
    other = torch.compile(lambda x: x * 3, backend="eager")
    for _ in range(before):
        compiled(X)
    with watching_recompiles() as seen:
        compiled(X)
        compiled(X)
    assert find_given_up()
    assert seen.model.eager is None and seen.model.unknown
    with watching_recompiles() as elsewhere:
        other(X)
    assert elsewhere.model.eager == 0


def users_own(backend):
    """Return callables that go to what the user's `torch.compile` made, in other ways."""

    def compiled(fn):
        return torch.compile(fn, backend=backend)

    class Owner:
        run = compiled(lambda self, x: x * 2)
        of_class = classmethod(compiled(lambda cls, x: x * 3))

    class Module(torch.nn.Module):
        forward = compiled(lambda self, x: x * 4)

    bound = functools.partial(compiled(lambda n, x: x * n), 5)
    return Owner().run, Owner.of_class, Module(), bound, functools.partial(Owner().run)


@pytest.mark.parametrize("place", range(5))
def test_what_the_user_compiled_is_not_compiled_again(place):
    graphs = []

    def backend(graph, inputs):
        graphs.append(graph)
        return graph.forward

    fn = users_own(backend)[place]
    fn(X)
    frames = dict(torch._dynamo.utils.counters["frames"])
    watched = watch_recompiles(fn)
    watched(X)
    assert torch._dynamo.utils.counters["frames"] == frames
    watched(X.double())
    assert watched.model.verdicts == ("hit", "recompile")
    assert len(graphs) == 2


def with_compiled_forward(module, compiled):
    module.forward = compiled(module.forward)
    return module


MODULES_OF_TORCH = {
    "Linear": lambda: torch.nn.Linear(3, 3),
    "ReLU": torch.nn.ReLU,
    "Sequential": lambda: torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.ReLU()),
}
WAYS_TO_COMPILE = {
    "the module": lambda module, compiled: compiled(module),
    "its forward": lambda module, compiled: compiled(module.forward),
    "its forward, put back": with_compiled_forward,
}
BATCHES = [torch.ones(rows, 3) for rows in (2, 2, 5, 5, 7, 2)]


def graphs_of_calls(step, graphs):
    """Return for each batch how many graphs the backend gets."""
    numbers = []
    for batch in BATCHES:
        before = len(graphs)
        step(batch)
        numbers.append(len(graphs) - before)
    return numbers


@pytest.mark.parametrize("kind", MODULES_OF_TORCH)
@pytest.mark.parametrize("way", WAYS_TO_COMPILE)
@pytest.mark.parametrize("warm", [0, 2])
def test_a_module_of_torch_has_the_verdicts_that_its_backend_counts(kind, way, warm):
    """The module was called `warm` times before the ledger; others share torch's wrapper."""
    graphs = []

    def backend(graph, inputs):
        graphs.append(graph)
        return graph.forward

    def compiled(fn):
        return torch.compile(fn, backend=backend)

    def made():
        torch_private.reset()
        compiled(torch.nn.LayerNorm(3))(BATCHES[0])
        return WAYS_TO_COMPILE[way](MODULES_OF_TORCH[kind](), compiled)

    numbers = graphs_of_calls(made(), graphs)
    step = made()
    for batch in BATCHES[:warm]:
        step(batch)
    watched = watch_recompiles(step)
    for batch in BATCHES[warm:]:
        watched(batch)
    first = numbers.index(1)
    words = {at: "recompile" if at > first else "compile" for at in range(6) if numbers[at]}
    assert watched.model.verdicts == tuple(words.get(at, "hit") for at in range(warm, 6))
    rows = [row for row in watched.model.entries if row.verdict == "recompile"]
    assert rows and all("size mismatch at index 0" in row.note for row in rows), watched
    assert not any("LayerNorm" in row.note for row in rows), watched
    assert format_entry_count(sum(numbers)) in watched.model.note


class Own(torch.nn.Module):
    """A module of the user, around one of torch's."""

    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(2, 2)

    def forward(self, x):
        return self.inner(x) + 1

    def step(self, x):
        return self.inner(x) * 2


class Outer(torch.nn.Module):
    """A module of the user that is not compiled, around one that is."""

    def __init__(self, compiled):
        super().__init__()
        self.inner = compiled

    def forward(self, x):
        return self.inner(x) - 1


def in_place(module, backend):
    module.compile(backend=backend)
    return module


def hooked(module, backend):
    module.register_forward_hook(lambda module, args, out: out * 2)
    return in_place(module, backend)


def no_op_first(x, is_on=True):
    return x * 2 if is_on else x


# what is compiled before the block -> whether compiled code runs, and what plain Python runs
WARM = {
    "own module": (lambda b: in_place(Own(), b), True, ""),
    "with a hook": (lambda b: hooked(Own(), b), True, ""),
    "inside an own one": (lambda b: Outer(in_place(Own(), b)), True, ""),
    "method": (lambda b: torch.compile(Own().step, backend=b), True, ""),
    "module of torch": (lambda b: in_place(torch.nn.Linear(2, 2), b), False, "Linear.forward"),
    "own inside torch's": (
        lambda b: in_place(torch.nn.Sequential(Own(), torch.nn.ReLU()), b),
        True,
        "Sequential.forward",
    ),
    "torch's through compile": (
        lambda b: torch.compile(torch.nn.Linear(2, 2), backend=b),
        True,
        "",
    ),
}


@pytest.mark.parametrize("name", WARM)
def test_modules_that_are_warm_are_told_by_what_ran(name):
    make, is_compiled, plain = WARM[name]
    torch._dynamo.reset()
    runs = []

    def backend(graph, inputs):
        return lambda *args: runs.append(1) or graph.forward(*args)

    module, x = make(backend), torch.ones(3, 2)
    module(x), runs.clear()
    with watching_recompiles() as seen:
        module(x), module(x)
    model = seen.model
    assert (model.calls, model.compiled_calls) == (2, 2 * is_compiled) and is_compiled == bool(runs)
    assert model.eager == 2 * bool(plain) and "unknown" not in model.note
    assert f"{NOT_LOOKED_AT}{plain} (" in model.note if plain else "Because" not in str(seen)
    if name != "inside an own one":
        live = watch_recompiles(module)
        assert live.each((x,), (x,)) == ("eager eager" if plain else "hit hit")
        assert plain in live.model.entries[0].note


def test_later_calls_are_not_told_what_dynamo_found_in_the_first():
    torch._dynamo.reset()
    compiled = torch.compile(no_op_first, backend="eager")
    with watching_recompiles() as seen:
        compiled(X, False), compiled(X), compiled(X)
    found = f"{compiled_call_reasons.NOTHING_TO_COMPILE} no_op_first"
    assert f"{found} (test_recompile_calls.py" in seen.model.note and seen.model.eager == 3
    assert f"{NOT_LOOKED_AT}no_op_first (test_recompile_calls.py" in seen.model.note
    assert seen.model.note.count("(1×)") == seen.model.note.count("(2×)") == 1
    torch._dynamo.reset()
    live = watch_recompiles(no_op_first)
    live(X, False), live(X)
    first, second = (row.note for row in live.model.entries)
    assert first.startswith(found) and second.startswith(f"{NOT_LOOKED_AT}no_op_first")
    assert f". In call 1: {found}" in second
