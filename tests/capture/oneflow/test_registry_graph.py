"""The registry of the small OneFlow is a graph of op types, kernels and gradient rules."""

from types import SimpleNamespace

import pytest

from helpers import show_registry
from helpers.capture.oneflow import registry_graph
from helpers.capture.oneflow.registry_graph import EMPTY, build_registry_graph
from helpers.mini import oneflow as flow
from helpers.mini.oneflow.job import Job, Op
from helpers.mini.oneflow.registry import GradientDef, OpDef
from helpers.model.graphs import Edge, Graph, Node
from helpers.study.chapter_5.op_jobs import load_op_in_fresh_session
from helpers.study.chapter_5.relu import relu_files
from tests.capture.made_programs import job


def define(name, file="/home/a/relu_op_def.py"):
    return OpDef(name, ("in", "by"), ("out",), {}, None, file, "C++")


class MadeRegistry:
    """A registry with the op types that a test gives it."""

    def __init__(self):
        self.ops = {}
        self.kernel_files = {}
        self.gradients = {}
        self.registered = {}

    def kernels(self, name):
        return self.registered.get(name, [])

    def add(self, *definitions):
        self.ops |= {definition.name: definition for definition in definitions}


@pytest.fixture
def registry(monkeypatch):
    registry = MadeRegistry()
    monkeypatch.setattr(registry_graph, "session", lambda: SimpleNamespace(registry=registry))
    return registry


TYPE_DETAIL = "op type: in, by → out · in C++"


def test_an_empty_registry_has_no_box(registry):
    assert build_registry_graph() == Graph("What the registry knows", (), (), EMPTY, wide=True)


def test_an_op_type_of_the_framework_s_has_no_box(registry):
    registry.add(define("matmul_forward", file=""))
    assert build_registry_graph().nodes == ()
    assert build_registry_graph().note == EMPTY


def test_a_type_without_kernel_and_rule_has_two_gaps(registry):
    registry.add(define("relu_forward"))
    graph = build_registry_graph()
    assert graph.nodes == (
        Node("relu_forward", "relu_forward", "type", TYPE_DETAIL),
        Node("kernel of relu_forward", "no kernel", "gone", "nothing computes it"),
        Node("gradient of relu_forward", "no gradient rule", "gone", "gradients cannot pass"),
    )
    assert graph.edges == (
        Edge("relu_forward", "kernel of relu_forward", "computed by"),
        Edge("relu_forward", "gradient of relu_forward", "gradient from"),
    )
    assert graph.note == ""


def test_a_backward_type_needs_no_rule(registry):
    registry.add(define("relu_backward"))
    assert [node.key for node in build_registry_graph().nodes] == [
        "relu_backward",
        "kernel of relu_backward",
    ]


def test_a_rule_is_in_its_file(registry):
    registry.add(define("relu_backward"))
    registry.gradients["relu_backward"] = GradientDef("relu_backward", None, "/home/a/rules.py")
    assert build_registry_graph().node("gradient of relu_backward") == Node(
        "gradient of relu_backward", "gradient rule", "backward", "rules.py"
    )


def test_a_function_of_the_kernel_file_computes_a_type(registry):
    registry.add(define("user_relu_forward"))
    module = SimpleNamespace(forward=abs)
    registry.kernel_files["user_relu"] = (module, None, "/home/a/relu_py_kernel.py")
    graph = build_registry_graph()
    key = "kernel of user_relu_forward"
    assert graph.node(key) == Node(key, "kernel", "kernel", "forward() · relu_py_kernel.py")
    assert Edge("user_relu_forward", key, "computed by") in graph.edges


def test_registered_kernels_come_before_the_function_of_the_file(registry):
    registry.add(define("relu_forward"))
    registry.kernel_files["relu"] = (SimpleNamespace(forward=abs), None, "/a.py")
    registry.registered["relu_forward"] = [
        SimpleNamespace(
            kernel=SimpleNamespace(name=name, file=f"/home/{name}.py"), matches=f"on {name}"
        )
        for name in ("one", "two")
    ]
    graph = build_registry_graph()
    key = "kernel of relu_forward"
    assert [node for node in graph.nodes if node.kind == "kernel"] == [
        Node(f"{key} 1", "kernel", "kernel", "one() · one.py"),
        Node(f"{key} 2", "kernel", "kernel", "two() · two.py"),
    ]
    arrows = [(edge.target, edge.label) for edge in graph.edges if edge.target.startswith(key)]
    assert arrows == [(f"{key} 1", "if on one"), (f"{key} 2", "if on two")]


def test_ops_of_jobs_lead_to_their_types_and_built_in_ops_are_counted(registry):
    registry.add(define("relu_forward"), define("matmul", file=""))
    own = Op("relu_0", "relu_forward", (), (), file="/a.py")
    built_in = Op("matmul_0", "matmul", (), ())
    unknown = Op("x", "input", (), ())
    first = Job("one", "predict", (unknown, own, built_in), ())
    graph = build_registry_graph(first)
    assert graph.nodes[0] == Node("op relu_0", "relu_0", "op", "op of the job")
    assert graph.edges[0] == Edge("op relu_0", "relu_forward", "of type")
    assert [node.kind for node in graph.nodes].count("op") == 1
    assert graph.note.startswith("1 op of built-in types is ")

    second = Job("two", "predict", (own, built_in), ())
    both = build_registry_graph(first, second)
    assert [node.kind for node in both.nodes].count("op") == 1
    assert both.note.startswith("2 ops of built-in types are ")


def test_anything_but_a_job_is_refused(refused, registry):
    refused(TypeError, "global_function", build_registry_graph, 3)


def test_registry_shows_what_is_missing():
    with flow.fresh_session():
        assert show_registry().model.note == EMPTY
    files = relu_files()
    definition, _, _ = files["user_relu_op_def.py"].partition("flow.REGISTER_USER_OP_GRAD")
    files["user_relu_op_def.py"] = definition
    with load_op_in_fresh_session("user_relu", files, kernel=False):
        model = show_registry().model
    gone = {node.key for node in model.nodes if node.kind == "gone"}
    kernels = {f"kernel of user_relu_{way}" for way in ("forward", "backward")}
    assert gone == kernels | {"gradient of user_relu_forward"}


def test_registry_counts_the_ops_that_it_does_not_draw():
    with flow.fresh_session():
        note = show_registry(job(3)).model.note
        assert note.startswith(f"{EMPTY} 3 ops ")


def test_registry_follows_op_to_type_to_kernel_to_rule():
    with load_op_in_fresh_session("user_relu", relu_files()) as api:

        @flow.global_function()
        def relu_job(x: flow.typing.Numpy.Placeholder((8, 2))):
            with flow.scope.placement("cpu", "0:0"):
                return api.user_relu_forward(x)

        model = show_registry(relu_job).model
    assert model.targets("op my_user_relu") == ("user_relu_forward",)
    led = {f"{what} of user_relu_forward" for what in ("kernel", "gradient")}
    assert {*model.targets("user_relu_forward")} == led
    kernel = model.node("kernel of user_relu_backward")
    assert kernel.detail == "backward() · user_relu_py_kernel.py"
