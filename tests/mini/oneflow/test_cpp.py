"""A definition in C++ is compiled for real, and means what the one in Python means."""

import numpy as np
import pytest

from helpers.mini import oneflow as flow
from helpers.mini.oneflow.cpp_def import find_compiler
from helpers.mini.oneflow.registry import Spec
from tests.mini.oneflow.folders import RELU, RELU_CPP, X, load, train, write

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="no C++ compiler on this machine")


def definitions(folder, front_end, name):
    """Return what a front end registers, by kind and name."""
    with flow.fresh_session() as own:
        op = flow.experimental.custom_op_module(name, folder)
        getattr(op, front_end)().build_load()
        ops = {name: op for name, op in own.registry.ops.items() if op.file}
        return ops, list(own.registry.gradients)


def test_both_front_ends_define_the_same_ops(tmp_path):
    write(tmp_path, {**RELU, **RELU_CPP})
    (py, py_rules), (c, c_rules) = (
        definitions(tmp_path, front_end, "user_relu") for front_end in ("py_def", "cpp_def")
    )
    assert list(py) == list(c) != []
    for op in py:
        assert (py[op].inputs, py[op].outputs) == (c[op].inputs, c[op].outputs)
        assert py[op].attrs == c[op].attrs
        assert (py[op].front_end, c[op].front_end) == ("Python", "C++")
    assert py_rules == c_rules


@pytest.mark.parametrize(("shape", "dtype"), [((), "float16"), ((0,), "int8"), ((2, 3), "uint8")])
def test_both_front_ends_infer_the_same(shape, dtype, tmp_path):
    write(tmp_path, {**RELU, **RELU_CPP})
    specs = [
        definitions(tmp_path, front_end, "user_relu")[0]["user_relu_forward"].infer(
            {("in", 0): Spec(shape, dtype)}, {"device_sub_tag": "py"}
        )
        for front_end in ("py_def", "cpp_def")
    ]
    assert specs[0] == specs[1] == {"out": Spec(shape, dtype)}


def test_both_front_ends_append_the_same_backward_ops(tmp_path):
    write(tmp_path, {**RELU, **RELU_CPP})
    jobs, values = [], []
    for front_end in ("py_def", "cpp_def"):
        with flow.fresh_session():
            seen = []
            job = train(load(tmp_path, front_end=front_end).api.relu, seen=seen)
            values.append((job(X).tobytes(), seen[0].tobytes()))
            jobs.append(job.job)
    py, c = (
        [(op.name, op.type, op.inputs, op.outputs, op.attrs, op.part) for op in job.ops]
        for job in jobs
    )
    assert py == c
    assert [op.file for op in jobs[1].ops if op.file] == ["user_relu/user_relu_cpp_def.cpp"] * 2
    assert values[0] == values[1]


ATTRS = """\
#include "oneflow/core/framework/framework.h"
#include <cmath>
namespace oneflow {
REGISTER_USER_OP("attrs_forward")
    .Input("in").Output("out").Attr<std::string>("device_sub_tag", "py")
    .Attr<bool>("b", true).Attr<int32_t>("i", -7).Attr<int64_t>("l", 1099511627776)
    .Attr<float>("f", 0.1f).Attr<double>("d", 1e-320).Attr<std::string>("s", "two\\n\\twords")
    .Attr<double>("inf", HUGE_VAL)
    .SetTensorDescInferFn([](user_op::InferContext* ctx) -> Maybe<void> {
      CHECK_OR_RETURN(ctx->Attr<bool>("b"));
      CHECK_EQ_OR_RETURN(ctx->Attr<int32_t>("i"), -7);
      CHECK_EQ_OR_RETURN(ctx->Attr<int64_t>("l"), 1099511627776);
      CHECK_EQ_OR_RETURN(ctx->Attr<float>("f"), 0.1f);
      CHECK_EQ_OR_RETURN(ctx->Attr<double>("d"), 1e-320);
      CHECK_EQ_OR_RETURN(ctx->Attr<double>("inf"), HUGE_VAL);
      CHECK_EQ_OR_RETURN(ctx->Attr<std::string>("s"), "two\\n\\twords");
      *ctx->Shape4ArgNameAndIndex("out", 0) = Shape({});
      return Maybe<void>::Ok();
    });
}  // namespace oneflow
"""


def test_attributes_arrive_as_they_were_sent(tmp_path):
    write(tmp_path, {"cpp_def.cpp": ATTRS}, "attrs")
    ops, _ = definitions(tmp_path, "cpp_def", "attrs")
    op = ops["attrs_forward"]
    values = {name: attr.default for name, attr in op.attrs.items()}
    assert values["f"] == float(np.float32(0.1)) and values["s"] == "two\n\twords"
    assert (values["b"], values["i"], values["l"]) == (True, -7, 2**40)
    assert op.infer({("in", 0): Spec((2,), "float32")}, values) == {"out": Spec((), "float32")}
