"""A definition in C++ is compiled when it must be, and means what the one in Python means."""

import numpy as np
import pytest

from helpers.mini import oneflow as flow
from helpers.mini.oneflow import cpp_def, cpp_program
from helpers.mini.oneflow.cpp_program import find_compiler
from helpers.mini.oneflow.registry import Spec
from tests.mini.oneflow.folders import RELU, RELU_CPP, X, caught, edited, load, train, write

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
    given = {("in", 0): Spec(shape, dtype)}, {"device_sub_tag": "py"}
    both = (definitions(tmp_path, way, "user_relu")[0] for way in ("py_def", "cpp_def"))
    specs = [ops["user_relu_forward"].infer(*given) for ops in both]
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


@pytest.mark.long
def test_an_edited_definition_is_never_stale(tmp_path, monkeypatch):
    count, real = [], cpp_program._compile
    monkeypatch.setattr(cpp_program, "_compile", lambda *a: (count.append(1), real(*a)))
    own = edited(RELU_CPP, "cpp_def.cpp", "#include", '#include "names.h"\n#include')
    own = edited(own, "cpp_def.cpp", '.Output("out")', ".Output(OUT)")
    write(tmp_path, own)
    header = tmp_path / "user_relu" / "names.h"

    def outputs():
        return cpp_def.load(tmp_path / "user_relu" / "user_relu_cpp_def.cpp")[0].outputs

    header.write_text('#define OUT "out"\n')
    assert outputs() == outputs() == ("out",) and len(count) == 1
    header.write_text('#define OUT "aus"\n')
    assert outputs() == ("aus",) and len(count) == 2


def test_no_compiler(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    write(tmp_path, RELU_CPP)
    words = ["user_relu/user_relu_cpp_def.cpp", "g++", "user_relu/user_relu_op_def.py", ".py_def()"]
    caught(lambda: load(tmp_path, front_end="cpp_def"), "load", words)


# id: (what is replaced, by what, stage, words)
WRONG = {
    "compile error": ('.Output("out")', '.Outpost("out")', "load",
        ["user_relu/user_relu_cpp_def.cpp", " user_relu_cpp_def.cpp:15:", "Outpost"]),
    "attr of another type": ('.Input("in")', '.Input("in").Attr<char>("c", 1)', "load",
        ["user_relu/user_relu_cpp_def.cpp", "int32_t"]),
    "crash while loading": ("namespace {\n", "namespace {\nint zero = *(volatile int*)nullptr;\n",
        "load", ["user_relu/user_relu_cpp_def.cpp", "SIGSEGV"]),
    "no inference": (".SetTensorDescInferFn(Same)", "", "load",
        ['op type "user_relu_forward" (user_relu/user_relu_cpp_def.cpp)', "SetTensorDescInferFn"]),
}  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("name", WRONG)
def test_wrong_file(name, tmp_path):
    old, new, stage, words = WRONG[name]
    write(tmp_path, edited(RELU_CPP, "cpp_def.cpp", old, new))
    caught(lambda: load(tmp_path, front_end="cpp_def"), stage, words)
