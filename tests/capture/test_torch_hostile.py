"""Odd objects of torch, and objects that bite: nothing of theirs runs, and what is cut is said."""

import functools

import pytest

torch = pytest.importorskip("torch")

from helpers import (  # noqa: E402
    show_compiled,
    show_fx,
    show_grad_fn,
    show_guards,
    show_op_graph,
    show_recording,
    watch_fixes,
    watch_inductor,
    watch_ops,
    watch_recompiles,
)
from helpers.capture.cpython.unwrapping import arguments  # noqa: E402
from helpers.capture.text import tensors  # noqa: E402
from helpers.capture.torch import results  # noqa: E402

pytestmark = pytest.mark.own_process(sharing="torch")
ran = []


class Biting(torch.Tensor):
    """Notes each attempt to ask it for anything."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        ran.append(func)
        raise SystemExit(3)


class Anything:
    def __getattr__(self, name):
        ran.append(name)
        return self


class Everything(Anything):
    def __call__(self, *args, **kwargs):
        ran.append("call")
        return self


@pytest.fixture(autouse=True)
def nothing_ran():
    ran.clear()
    yield
    assert ran == []


def freed():
    tensor = torch.ones(100)
    tensor.untyped_storage().resize_(0)
    return tensor


def graph(change):
    module = torch.fx.symbolic_trace(lambda x: torch.sin(x) + 1)
    change(list(module.graph.nodes))
    return module


def linear():
    return torch.nn.Linear(2, 2)


ODD = {
    "on no device": (lambda: torch.empty(10**6, 10**6, device="meta"), False),
    "of other code": (lambda: torch.ones(2).as_subclass(Biting), False),
    "sparse": (lambda: torch.eye(2).to_sparse(), False),
    "nested": (lambda: torch.nested.nested_tensor([torch.ones(1), torch.ones(2)]), False),
    "not initialised": (lambda: torch.nn.parameter.UninitializedParameter(), False),
    "freed": (freed, False),
    "dense": (lambda: torch.ones(2, 3).t(), True),
    "without elements": (lambda: torch.empty(0, 5), True),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ODD)
def test_a_tensor_is_told_in_a_few_words_and_read_only_where_its_memory_is_there(name):
    make, readable = ODD[name]
    made = make()
    assert 0 < len(tensors.words(made)) < 80
    assert tensors.has_its_elements(made) is readable


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ODD)
def test_naming_an_argument_of_watch_ops_asks_it_nothing(name):
    assert watch_ops(lambda x: None, ODD[name][0]()).model.ops == ()


def test_naming_arguments_runs_no_code_of_theirs():
    holding, deep = [], []
    holding.append(holding)
    for _ in range(10_000):
        deep = [deep]
    log = watch_ops(lambda *args, key: None, holding, deep, Everything(), key=Everything())
    assert log.model.ops == ()


def test_names_are_those_of_the_function_that_really_runs():
    def inner(a, b):
        pass

    @functools.wraps(inner)
    def outer(*args, **kwargs):
        return inner(*args, **kwargs)

    class Layer:
        def __call__(self, *args):
            pass

    named = [[name for name, _ in arguments(fn, (1, 2), {})] for fn in (inner, outer, Layer(), len)]
    assert named == [["a", "b"], ["a", "b"], ["args[0]", "args[1]"], ["argument 1", "argument 2"]]


@pytest.mark.parametrize("error", [ValueError("no"), RecursionError("deep")])
def test_what_ends_a_run_is_told_not_raised(error):
    def run():
        raise error

    assert watch_ops(run).model.outcome.startswith(type(error).__name__)


def test_ctrl_c_in_a_run_reaches_the_notebook():
    def run():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        watch_ops(run)


def test_a_function_whose_body_does_not_run_is_told():
    async def waits():
        pass

    def yields():
        yield

    with pytest.raises(TypeError, match="only makes a coroutine"):
        watch_ops(waits)
    assert "only made a generator" in watch_ops(yields).model.note


def test_a_partial_of_itself_does_not_kill():
    made = functools.partial(print)
    made.__setstate__((made, (), {}, {}))
    with pytest.raises(TypeError, match="its own function"):
        watch_ops(made)


def test_very_many_ops_are_counted_and_said():
    def run():
        x = torch.ones(1)
        for _ in range(700):
            x = x + 1

    log = watch_ops(run).model
    assert len(log.rows) == 500 and "201 more ops are left out" in log.note


def hostile_target(nodes):
    nodes[1].target = Everything()


def same_names(nodes):
    nodes[1]._name = nodes[2]._name = "x"


def no_meta(nodes):
    nodes[1].meta = None


def strange_meta(nodes):
    nodes[1].meta["val"] = Everything()
    nodes[2].meta["val"] = torch.ones(2).as_subclass(Biting)


def deep_arguments(nodes):
    deep = 1
    for _ in range(300):
        deep = [deep]
    nodes[1].args = (nodes[0], deep, ["x" * 100_000] * 1_000)


@pytest.mark.parametrize(
    "change", [hostile_target, same_names, no_meta, strange_meta, deep_arguments]
)
def test_an_fx_graph_is_drawn_whatever_its_nodes_hold(change):
    exhibit = show_fx(graph(change))
    assert len(exhibit.model.nodes) == 4
    assert len(repr(exhibit)) < 5_000


def test_a_graph_of_a_class_of_somebody_s_own_is_read_past_it():
    class Endless(torch.fx.Graph):
        @property
        def nodes(self):
            while True:
                ran.append("nodes")
                yield 1

    made = torch.fx.Graph()
    made.placeholder("x")
    made.__class__ = Endless
    assert [node.key for node in show_fx(made).model.nodes] == ["x"]


def test_a_long_fx_graph_is_folded_and_its_nodes_can_be_found():
    made = torch.fx.Graph()
    x = made.placeholder("x")
    for _ in range(6_000):
        x = made.call_function(torch.sin, (x,))
    exhibit = show_fx(made, find="sin_4998 =")
    assert "are left out" in exhibit.model.note and exhibit.model.found == ("sin_4998",)
    assert len(exhibit._repr_mimebundle_()[0]["text/html"]) < 1_000_000


def test_a_long_past_is_drawn_without_recursion_and_folded():
    x = torch.ones(1, requires_grad=True)
    for _ in range(10_000):
        x = x + 1
    exhibit = show_grad_fn(x)
    assert len(exhibit.model.nodes) == 5_000 and "nearest 5,000" in exhibit.model.note
    assert len(exhibit._repr_mimebundle_()[0]["text/html"]) < 1_000_000


WRONG = {
    "show_fx": lambda thing: show_fx(thing),
    "show_grad_fn": show_grad_fn,
    "show_op_graph": lambda thing: show_op_graph("title", log=thing),
    "show_op_graph title": lambda thing: show_op_graph(thing, log=watch_ops(lambda: 1)),
    "show_compiled": show_compiled,
    "show_guards": show_guards,
    "show_guards find": lambda thing: show_guards(linear, find=thing),
    "watch_recompiles": watch_recompiles,
    "show_recording": show_recording,
    "watch_inductor": lambda thing: watch_inductor(thing),
    "watch_inductor run": lambda thing: watch_inductor(linear, run=thing),
    "watch_fixes": watch_fixes,
    "watch_fixes pair": lambda thing: watch_fixes({"a": thing}),
    "watch_fixes functions": lambda thing: watch_fixes({"a": (thing, thing)}),
}
WRONG_THINGS = {
    "anything": Anything,
    "a tensor": lambda: torch.ones(2).as_subclass(Biting),
    "a freed tensor": freed,
    "a class": lambda: Everything,
    "3": lambda: 3,
    "None": lambda: None,
}


@pytest.mark.parametrize("thing", WRONG_THINGS)
@pytest.mark.parametrize("verb", WRONG)
def test_a_wrong_argument_is_refused_in_one_sentence(verb, thing):
    with pytest.raises((TypeError, ValueError)) as caught:
        WRONG[verb](WRONG_THINGS[thing]())
    assert len(str(caught.value)) < 300 and "\n" not in str(caught.value)


def test_what_cannot_be_copied_for_each_run_is_shared_and_said():
    thing = Everything()
    model = watch_fixes({"a": (lambda x: x, lambda x: x)}, thing).model
    assert "Not copied for each run but shared: Everything" in model.note
    told = dict(zip(model.headings, model.entries[0].verdicts, strict=True))
    assert told["result"].word == "same"
    copies, shared = results.copied(([torch.ones(2)], {"a": [1]}, thing))
    assert copies[0][0] is not torch.ones(2) and copies[2] is thing and shared == ["Everything"]


def test_a_list_that_holds_itself_is_copied_as_such():
    holding = [1]
    holding.append(holding)
    (copy,), shared = results.copied((holding,))
    assert copy[1] is copy and copy is not holding and not shared
