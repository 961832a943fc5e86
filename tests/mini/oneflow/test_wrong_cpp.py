"""A compiled definition that goes wrong ends in an OpError, and nothing else ends with it.

All faults stand in one file, one op type each, so that it is compiled once.
"""

import numpy as np
import pytest

from helpers.mini import oneflow as flow
from helpers.mini.oneflow import cpp_program
from helpers.mini.oneflow.cpp_program import find_compiler
from tests.mini.oneflow.folders import X, caught, load, train, write

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="no C++ compiler on this machine")

IN = 'ctx->Shape4ArgNameAndIndex("in", 0)'
OUT = '*ctx->Shape4ArgNameAndIndex("out", 0) = '

# id: (body of the inference function, words)
NO_X = f"{OUT}*{IN.replace('in', 'x')};"
INFERENCE = {
    "wrong name": (NO_X, ['argument ("x", 0)']),
    "abort": ("std::abort();", ["SIGABRT"]),
}
FINE = f'std::printf("what it prints is no answer\\n"); {OUT}*{IN};'

RULE = """\
const std::string name = ctx->FwOp().op_name() + "_grad";
ctx->DefineOp(name, [ctx](user_op::BackwardOpBuilder& builder) {
  return builder.OpTypeName("faults_backward")
      .InputBind("dy", ctx->FwOp().output_grad("out", 0)).Output("dx").Build();
});
ctx->FwOp().InputGradBind(user_op::OpArg("in", 0), [&]() -> const std::string& {
  return ctx->GetOp(name).output("dx", 0);
});
"""
# id: (what is replaced in RULE, by what, words)
NAMED = 'name = ctx->FwOp().op_name() + "_grad"'
RULES = {
    "wrong input": ('OpArg("in", 0)', 'OpArg("x", 0)', ['input ("x", 0)']),
    "binds nothing": ("ctx->FwOp().InputGradBind", "(void)", ['input ("in", 0)']),
    "crash": (NAMED, "name = *(std::string*)nullptr", ["SIGSEGV"]),
}
TAG = '.Attr<std::string>("device_sub_tag", "py")'


def type_of(what):
    return f"{what.replace(' ', '_')}_forward"


def definition():
    """Return a C++ file with an op type, and a rule, for each fault."""
    lines = ['#include "oneflow/core/framework/framework.h"', "namespace oneflow {"]
    bodies = {f"infer {what}": body for what, (body, _) in INFERENCE.items()}
    bodies |= {f"rule {what}": FINE for what in RULES} | {"fine": FINE}
    for what, body in bodies.items():
        lines += [
            f'REGISTER_USER_OP("{type_of(what)}").Input("in").Output("out"){TAG}',
            ".SetTensorDescInferFn([](user_op::InferContext* ctx) -> Maybe<void> {",
            body,
            "return Maybe<void>::Ok(); });",
        ]
    lines += [
        f'REGISTER_USER_OP("faults_backward").Input("dy").Output("dx"){TAG}',
        ".SetTensorDescInferFn([](user_op::InferContext* ctx) -> Maybe<void> {",
        '*ctx->Shape4ArgNameAndIndex("dx", 0) = *ctx->Shape4ArgNameAndIndex("dy", 0);',
        "return Maybe<void>::Ok(); });",
    ]
    rules = {f"rule {what}": (old, new) for what, (old, new, _) in RULES.items()}
    for what, (old, new) in (rules | {"fine": ("", "")}).items():
        assert old in RULE
        lines += [
            f'REGISTER_USER_OP_GRAD("{type_of(what)}")',
            ".SetBackwardOpConfGenFn([](user_op::BackwardOpConfContext* ctx) {",
            RULE.replace(old, new) if old else RULE,
            "});",
        ]
    return "\n".join([*lines, "}  // namespace oneflow", ""])


API = """\
import oneflow as flow


def use(x, kind):
    op = flow.user_op_builder("myop").Op(kind).Input("in", [x]).Output("out").Build()
    return op.InferAndTryRun().SoleOutputBlob()
"""
KERNEL = """\
def forward(args):
    return args[0] * 1


backward = forward
"""


@pytest.fixture
def use(tmp_path, monkeypatch):
    """Return a function that trains with the op type of one fault."""
    monkeypatch.setattr(cpp_program, "ANSWER_SECONDS", 1)
    files = {"cpp_def.cpp": definition(), "py_api.py": API, "py_kernel.py": KERNEL}
    op = load(write(tmp_path, files, "faults"), "faults", "cpp_def")
    kernels = flow.experimental.custom_op_module("fine", write(tmp_path, files, "fine"))
    kernels.py_kernel().build_load()
    return lambda what: train(lambda x: op.api.use(x, type_of(what)))(X)


def test_the_file_without_a_fault_trains(use):
    np.testing.assert_array_equal(use("fine"), X.sum())


FAULTS = [("infer", name, "infer") for name in INFERENCE]
FAULTS += [("rule", name, "backward") for name in RULES]


@pytest.mark.parametrize(("kind", "name", "stage"), FAULTS)
def test_a_fault_is_told_at_its_stage(use, kind, name, stage):
    *_, words = (INFERENCE | RULES)[name]
    where = ['op "myop"', type_of(f"{kind} {name}"), "faults/faults_cpp_def.cpp"]
    caught(lambda: use(f"{kind} {name}"), stage, where + words)
