"""The function that was meant is shown, and things go by the names that users say."""

import functools
import sys
from types import ModuleType

import numpy as np
import pytest

import helpers
from helpers import show_bytecode, show_grad_fn, watch_hooked, watch_names, watch_ops

torch = pytest.importorskip("torch")
pytest.importorskip("torch._dynamo")  # before TensorFlow
networkx = pytest.importorskip("networkx")
pytestmark = pytest.mark.own_process(sharing="torch")
RUNS = (helpers.watch_stack, helpers.watch_frames, watch_names, watch_hooked)


def plain(x):
    return x


@functools.singledispatch
def size(x):
    return "other"


@size.register(int)
def of_int(x):
    return "int"


class Sized:
    @functools.singledispatchmethod
    def size(self, x):
        return "other"

    @size.register(list)
    def of_list(self, x):
        return "list"


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * x


def foreign(name: str, home: str, **inside):
    """Return an object of a class that says it comes from the module `home`."""
    made = type(name, (), {"__module__": home, "__call__": lambda self, *a: plain(*a)})()
    vars(made).update(inside)
    return made


PATH = networkx.path_graph(3)
CASES = {  # callable -> arguments, the code object that a run reaches, what is said
    "singledispatch": (size, (3,), "of_int", "this is what runs for int (registered: int)"),
    "of another type": (size, ("",), "size", "what runs for str (registered: int)"),
    "a partial of one": (functools.partial(size, 3), (), "of_int", "what runs for int"),
    "a method of it": (Sized().size, ([],), "of_list", "for list (registered: list)"),
    "networkx": (networkx.shortest_path, (PATH, 0, 2), "shortest_path", "argmap is unwrapped"),
    "the same again": (networkx.is_connected, (PATH,), "is_connected", "argmap is unwrapped"),
    "np.vectorize": (np.vectorize(plain), ([1, 2],), "plain", "vectorize is unwrapped"),
    "np.mean": (np.mean, ([1, 2],), "mean", "_ArrayFunctionDispatcher is unwrapped"),
    "autograd": (Square.apply, (torch.ones(2),), "forward", "the forward of Square"),
    "numba": (foreign("CPUDispatcher", "numba.core", __wrapped__=plain), (1,), "plain", "numba is"),
    "jax": (foreign("PjitFunction", "jaxlib._jax", __wrapped__=plain), (1,), "plain", "jax.jit is"),
}


@pytest.mark.parametrize("case", CASES)
def test_every_verb_reaches_the_function_and_says_what_it_peeled_off(case):
    fn, args, name, says = CASES[case]
    for verb in RUNS:
        model = verb(fn, *args).model
        assert says in model.note.split("\n")[0]
        if verb is watch_hooked:
            assert model.count(name)
        else:
            assert f"def {name}(" in model.source and model.steps
    first = says.split("what runs")[0].split("for list")[0]
    assert first in helpers.show_evaluator(fn).model.note and first in show_bytecode(fn).model.note


def test_costs_and_specialising_unwrap_too():
    assert "singledispatch is" in helpers.watch_tracers(size, 3).model.note
    specialised = helpers.watch_specialising(networkx.is_connected, {"a": (PATH,)}, times=2)
    assert "argmap is" in specialised.model.note
    assert "this is the default (registered: int)" in show_bytecode(size).model.note
    assert "the default (registered: list)" in show_bytecode(vars(Sized)["size"]).model.note


def test_compiled_code_is_named_in_one_sentence_as_users_name_it(refused):
    refused(TypeError, "np.add is compiled code", show_bytecode, np.add)
    refused(TypeError, "compiled", show_bytecode, torch.jit.script(plain))
    told = "Places that refer to the function np.linalg.norm"
    assert helpers.show_bindings(np.linalg.norm).model.title == told
    assert helpers.show_bindings(np.add).model.title == "Places that refer to the ufunc np.add"


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        block = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())
        self.layer1 = torch.nn.ModuleList([block])

    def forward(self, x):
        return self.layer1[0](x) * 2


def test_modules_layers_and_parameters_go_by_their_paths():
    net, x = Net(), torch.ones(1, 2)
    hooks = len(torch.nn.modules.module._global_forward_hooks)
    ways = {net: "", net.forward: "", lambda x: net(x): "net."}
    for fn, before in ways.items():
        found = [row.layer for row in watch_ops(fn, x).model.rows]
        assert f"{before}layer1.0.0" in found and found[-1] in ("Net", "net", "")
    log = watch_ops(lambda: torch.nn.functional.relu(x)).model
    assert "layer" not in [column.field for column in log.columns]
    assert hooks == len(torch.nn.modules.module._global_forward_hooks)
    past = show_grad_fn(net(x).sum(), names=net).model
    leaves = {node.label for node in past.nodes if node.kind == "leaf"}
    assert leaves == {"layer1.0.0.weight", "layer1.0.0.bias"}
    w = torch.ones(2, requires_grad=True)
    assert show_grad_fn(w * 2, find="mine", names={"mine": w}).model.nodes[-1].label == "mine"
    with pytest.raises(TypeError, match="names needs a dict: name -> tensor, or an nn.Module"):
        show_grad_fn(w * 2, names=3)
    assert "= self.layer1.0.0(x) (Linear)" in repr(helpers.show_fx(torch.fx.symbolic_trace(net)))


def test_layers_and_datasets_of_tensorflow_have_names_and_specs():
    tf, keras = pytest.importorskip("tensorflow"), pytest.importorskip("keras")
    model = keras.Sequential([keras.layers.Dense(1, name=name) for name in ("first", "second")])
    model(tf.ones((1, 2)))
    found = [row.layer for row in watch_ops(model, tf.ones((1, 2))).model.rows]
    assert found[0].endswith("/first") and found[-1].endswith("/second")
    data = tf.data.Dataset.from_tensor_slices((tf.ones((4, 2)), {"y": tf.ones(4)})).batch(2)
    told = "BatchDataset of (float32 [None, 2], {y: float32 [None]})"
    assert told in repr(watch_names(plain, data))
    row = helpers.would_trace(tf.function(plain), tf.ones(2))
    assert repr(row) == "call next with x=float32 (2,): trace (first trace)"


def uses(package: str):
    space = {package: ModuleType(package)}
    exec(f"def step(x=1):\n    return {package} and x", space)
    return space["step"]


OF_TORCH = """show_fx show_compiled show_guards watch_breaks watch_compile watch_recompiles
    watch_rewriting watch_inductor"""
OF_TF = "show_graph show_graph_steps show_autograph watch_traces would_trace watch_optimisation"
OTHERS = [
    ("tensorflow", "torch", "use show_fx", OF_TF),
    ("torch", "keras", "use show_graph", OF_TORCH),
    ("tensorflow", "jax", "no verb looks", "show_graph watch_traces"),
]


@pytest.mark.parametrize("own, other, cure, verbs", OTHERS)
def test_other_frameworks_are_refused_before_the_verb_s_own_is_imported(
    own, other, cure, verbs, monkeypatch, refused
):
    monkeypatch.setitem(sys.modules, own, None)  # an import of it would fail
    for verb in verbs.split():
        for thing in (uses(other), foreign("Thing", f"{other}.inside")):
            refused(TypeError, cure, getattr(helpers, verb), thing)


def test_where_jax_is_used_two_verbs_say_what_they_do_not_see():
    for fn, args in ((uses("jax"), ()), (plain, (foreign("Array", "jaxlib._jax"),))):
        assert "This uses jax. Only the" in watch_ops(fn, *args).model.note
        assert "This uses jax. Only the" in helpers.show_journey(fn, *args).model.note
    assert "jax" not in watch_ops(plain, 1).model.note + helpers.show_journey(plain, 1).model.note
