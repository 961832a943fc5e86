"""A C++ definition is compiled for real, means what the Python one means, and cannot do harm."""

import subprocess

import numpy as np
import pytest

from helpers.mini import oneflow as flow
from helpers.mini.oneflow import compiling, cpp, programs
from helpers.mini.oneflow.registry import GradientDef, OpDef, Spec
from helpers.mini.oneflow.session import session
from tests.mini.oneflow.folders import (
    RELU,
    RELU_CPP,
    X,
    edited,
    load,
    predict,
    train,
    write,
)
from tests.mini.oneflow.wrong import caught

pytestmark = pytest.mark.skipif(
    compiling.find_compiler() is None, reason="no C++ compiler on this machine"
)

LEAKY = {
    "cpp_def.cpp": """\
#include "oneflow/core/framework/framework.h"
namespace oneflow {
REGISTER_USER_OP("leaky_forward")
    .Input("in")
    .Output("low")
    .Output("high")
    .Attr<double>("slope", 0.1)
    .Attr<int64_t>("times")
    .Attr<std::string>("device_sub_tag", "py")
    .SetTensorDescInferFn([](user_op::InferContext* ctx) -> Maybe<void> {
      const Shape in = *ctx->Shape4ArgNameAndIndex("in", 0);
      CHECK_GT_OR_RETURN(in.NumAxes(), 0) << "the input has no axis";
      *ctx->TensorDesc4ArgNameAndIndex("low", 0) = *ctx->TensorDesc4ArgNameAndIndex("in", 0);
      *ctx->Shape4ArgNameAndIndex("high", 0) = Shape({in.At(0), ctx->Attr<int64_t>("times")});
      *ctx->Dtype4ArgNameAndIndex("high", 0) = DataType::kInt32;
      return Maybe<void>::Ok();
    });
}  // namespace oneflow
""",
    "op_def.py": """\
import oneflow as flow


def infer(ctx):
    if not ctx.InputShape("in", 0):
        raise ValueError("the input has no axis")
    ctx.SetOutputShape("low", 0, ctx.InputShape("in", 0))
    ctx.SetOutputShape("high", 0, (ctx.InputShape("in", 0)[0], ctx.Attr("times")))
    ctx.SetOutputDType("high", 0, flow.int32)


op = flow.REGISTER_USER_OP("leaky_forward").Input("in").Output("low").Output("high")
op.Attr("slope", 0.1).Attr("times", type="int64").Attr("device_sub_tag", "py")
op.SetTensorDescInferFn(infer)
""",
}


def definitions(folder, front_end, name):
    """Return what a front end registers, by kind and name."""
    with flow.fresh_session() as own:
        op = flow.experimental.custom_op_module(name, folder)
        getattr(op, front_end)().build_load()
        built_in = len(flow.op_types(built_in=True))
        ops = list(own.registry.ops.values())[built_in:]
        return {op.name: op for op in ops}, flow.op_types()


@pytest.mark.parametrize(("name", "files"), [("user_relu", {**RELU, **RELU_CPP}), ("leaky", LEAKY)])
def test_both_front_ends_define_the_same_ops(name, files, tmp_path):
    write(tmp_path, files, name)
    (py, py_types), (c, c_types) = (
        definitions(tmp_path, front_end, name) for front_end in ("py_def", "cpp_def")
    )
    assert list(py) == list(c) != []
    for op in py:
        assert (py[op].inputs, py[op].outputs) == (c[op].inputs, c[op].outputs)
        assert py[op].attrs == c[op].attrs
        assert list(py[op].attrs) == list(c[op].attrs)
    for one, other in zip(py_types, c_types, strict=True):
        assert (one.front_end, other.front_end) == ("Python", "C++")
        assert bool(one.gradient) == bool(other.gradient)


@pytest.mark.parametrize("shape", [(), (5,), (0,), (2, 3, 4)])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "int64", "uint8"])
def test_both_front_ends_infer_the_same(shape, dtype, tmp_path):
    write(tmp_path, {**RELU, **RELU_CPP})
    specs = [
        definitions(tmp_path, front_end, "user_relu")[0]["user_relu_forward"].infer(
            {("in", 0): Spec(shape, dtype)}, {"device_sub_tag": "py"}
        )
        for front_end in ("py_def", "cpp_def")
    ]
    assert specs[0] == specs[1] == {"out": Spec(shape, dtype)}


def test_both_front_ends_infer_two_outputs_alike(tmp_path):
    write(tmp_path, LEAKY, "leaky")
    attrs = {"slope": 0.5, "times": 7, "device_sub_tag": "py"}
    found = [
        definitions(tmp_path, front_end, "leaky")[0]["leaky_forward"].infer(
            {("in", 0): Spec((3, 2), "float32")}, attrs
        )
        for front_end in ("py_def", "cpp_def")
    ]
    assert found[0] == found[1] == {"low": Spec((3, 2), "float32"), "high": Spec((3, 7), "int32")}


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


def count_compilations(monkeypatch):
    """Count runs of the compiler."""
    count = []
    real = compiling._compile
    monkeypatch.setattr(compiling, "_compile", lambda *a: (count.append(1), real(*a)))
    return count


def test_an_edited_definition_is_never_stale(tmp_path, monkeypatch):
    count = count_compilations(monkeypatch)
    own = edited(RELU_CPP, "cpp_def.cpp", "#include", '#include "names.h"\n#include')
    own = edited(own, "cpp_def.cpp", '.Output("out")', ".Output(OUT)")
    write(tmp_path, own)
    header = tmp_path / "user_relu" / "names.h"

    def outputs():
        return cpp.load(tmp_path / "user_relu" / "user_relu_cpp_def.cpp")[0].outputs

    header.write_text('#define OUT "out"\n')
    assert outputs() == outputs() == ("out",)
    assert len(count) == 1
    header.write_text('#define OUT "aus"\n')
    assert outputs() == ("aus",)
    header.write_text('#define OUT "out"\n')
    assert outputs() == ("out",)
    assert len(count) == 3


def test_the_same_text_in_another_folder_is_not_compiled_again(tmp_path, monkeypatch):
    count = count_compilations(monkeypatch)
    own = edited(RELU_CPP, "cpp_def.cpp", "namespace {", "namespace {  // own")
    for name in ("a", "b"):
        write(tmp_path / name, own)
        cpp.load(tmp_path / name / "user_relu" / "user_relu_cpp_def.cpp")
    assert len(count) == 1


def test_a_broken_entry_of_the_cache_is_made_anew(tmp_path, compiled):
    write(tmp_path, RELU_CPP)
    source = tmp_path / "user_relu" / "user_relu_cpp_def.cpp"
    entry = compiling.build(source)
    (entry / "program").unlink()
    (entry / "describes").unlink(missing_ok=True)
    assert [type(item) for item in cpp.load(source)] == [OpDef, OpDef, GradientDef]


def test_what_a_definition_prints_is_no_answer(tmp_path):
    own = edited(RELU_CPP, "cpp_def.cpp", "  *ctx->Shape", '  std::printf("op\\n");\n  *ctx->Shape')
    relu = load(write(tmp_path, own), front_end="cpp_def").api.relu
    assert predict(relu)(X).tolist() == [0, 0, 0, 1, 2]


def test_the_header_compiles_without_a_warning():
    source = '#include "oneflow/core/framework/framework.h"\n'
    compiler = compiling.find_compiler()
    words = ["-std=c++11", "-Wall", "-Wextra", "-fsyntax-only", "-x", "c++", "-"]
    done = subprocess.run(
        [compiler, "-I", compiling.INCLUDE, *words], input=source, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")


IN = '*ctx->Shape4ArgNameAndIndex("in", 0)'
# id: (what is replaced, by what, stage, words)
WRONG = {
    "compile error": ('.Output("out")', '.Ouput("out")', "load",
        ["user_relu/user_relu_cpp_def.cpp does not compile", "user_relu_cpp_def.cpp:", "Ouput"]),
    "attr of another type": ('.Input("in")', '.Input("in").Attr<char>("c", 1)', "load",
        ["does not compile", "int32_t"]),
    "crash while loading": ("namespace {\n", "namespace {\nint zero = *(volatile int*)nullptr;\n",
        "load", ["user_relu_cpp_def.cpp", "SIGSEGV"]),
    "no inference": (".SetTensorDescInferFn(Same)", "", "load",
        ['op type "user_relu_forward" (user_relu/user_relu_cpp_def.cpp)', "SetTensorDescInferFn"]),
    "argument name twice": ('.Output("out")', '.Output("in")', "load", ['"in" is used twice']),
    "op type twice": ('OP("user_relu_backward")', 'OP("user_relu_forward")', "define",
        ['"user_relu_forward" is already registered']),
    "wrong name in the inference": (IN, IN.replace("in", "x"), "infer",
        ['op "myrelu"', 'has no argument ("x", 0); it has "in", "out"']),
    "shape never set": (IN, "Shape()", "infer", ["never sets the shape", '"out"']),
    "changes its input": ("  return Maybe", '  ctx->Shape4ArgNameAndIndex("in", 0)->Set(0, 9);\n'
        "  return Maybe", "infer", ['changes the shape or the dtype of its input "in"']),
    "unknown attr": (IN, 'Shape({ctx->Attr<int64_t>("n")})', "infer",
        ['has no attr "n"; it has "device_sub_tag"']),
    "attr as another type": (IN, 'Shape({ctx->Attr<int64_t>("device_sub_tag")})', "infer",
        ['asks for attr "device_sub_tag" as int64; it is string']),
    "failed check": ("{\n  *ctx", '{\n  CHECK_EQ_OR_RETURN(1, 2) << "more";\n  *ctx', "infer",
        ["Check failed: (1) == (2) more"]),
    "axis that is not there": (IN, 'Shape({ctx->Shape4ArgNameAndIndex("in", 0)->At(3)})', "infer",
        ['op "myrelu"', "raised"]),
    "crash in the inference": (IN, "*(Shape*)nullptr", "infer", ['op "myrelu"', "SIGSEGV"]),
    "exit in the inference": ("{\n  *ctx", "{\n  std::exit(3);\n  *ctx", "infer",
        ["exit code 3", "instead of returning"]),
    "endless inference": ("{\n  *ctx", "{\n  for (volatile int i = 0;;) i = 1;\n  *ctx", "infer",
        ["did not come back"]),
    "wrong names in the rule": ('OpArg("in", 0)', 'OpArg("x", 0)', "backward",
        ['op "myrelu"', "user_relu_cpp_def.cpp", 'has no input ("x", 0); it has "in"']),
    "wrong output in the rule": ('output("out", 0))', 'output("y", 0))', "backward",
        ['has no output ("y", 0); it has "out"']),
    "cyclic rule": ('ctx->FwOp().output("out", 0))', 'ctx->GetOp("myrelu_grad").output("dx", 0))',
        "backward", ["to build itself: a cycle"]),
    "unknown backward op": ("GetOp(name)", 'GetOp("other")', "backward",
        ['asks for backward op "other"; DefineOp was given "myrelu_grad"']),
    "rule without a function": (".SetBackwardOpConfGenFn(", ";\nvoid Unused(std::function<void("
        "user_op::BackwardOpConfContext*)>);\nstatic auto unused = (", "load",
        ['the gradient rule of "user_relu_forward"', "SetBackwardOpConfGenFn"]),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_wrong_cpp_definition(name, tmp_path, monkeypatch):
    monkeypatch.setattr(programs, "LONGEST", 1)
    old, new, stage, words = WRONG[name]
    write(tmp_path, edited(RELU_CPP, "cpp_def.cpp", old, new))
    caught(lambda: train(load(tmp_path, front_end="cpp_def").api.relu)(X), stage, words)


def test_no_compiler(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    write(tmp_path, RELU_CPP)
    words = ["user_relu/user_relu_cpp_def.cpp", "g++", "user_relu/user_relu_op_def.py", ".py_def()"]
    caught(lambda: load(tmp_path, front_end="cpp_def"), "load", words)


def test_compiler_that_cannot_run(tmp_path, monkeypatch):
    monkeypatch.setenv("CXX", "false")
    write(tmp_path, RELU_CPP)
    words = ["user_relu_cpp_def.cpp does not compile", "said nothing"]
    caught(lambda: load(tmp_path, front_end="cpp_def"), "load", words)


def test_two_libraries_keep_their_ops_apart(tmp_path):
    write(tmp_path, RELU_CPP)
    write(tmp_path, LEAKY, "leaky")
    load(tmp_path, front_end="cpp_def")
    flow.experimental.custom_op_module("leaky", tmp_path).cpp_def().build_load()
    own = [op.name for op in flow.op_types()]
    assert own == ["user_relu_forward", "user_relu_backward", "leaky_forward"]
    assert list(session().registry.gradients)[-1] == "user_relu_forward"
