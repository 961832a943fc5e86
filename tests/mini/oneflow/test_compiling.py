"""C++ definitions are compiled when they must be, and only then; errors come in one sentence."""

import pytest

from helpers.mini.oneflow import cpp_def
from tests.mini.oneflow.folders import RELU_CPP, edited, load, write
from tests.mini.oneflow.wrong import caught

pytestmark = pytest.mark.skipif(
    cpp_def.find_compiler() is None, reason="no C++ compiler on this machine"
)


def count_compilations(monkeypatch):
    """Count runs of the compiler."""
    count = []
    real = cpp_def._compile
    monkeypatch.setattr(cpp_def, "_compile", lambda *a: (count.append(1), real(*a)))
    return count


@pytest.mark.long
def test_an_edited_definition_is_never_stale(tmp_path, monkeypatch):
    count = count_compilations(monkeypatch)
    own = edited(RELU_CPP, "cpp_def.cpp", "#include", '#include "names.h"\n#include')
    own = edited(own, "cpp_def.cpp", '.Output("out")', ".Output(OUT)")
    write(tmp_path, own)
    header = tmp_path / "user_relu" / "names.h"

    def outputs():
        return cpp_def.load(tmp_path / "user_relu" / "user_relu_cpp_def.cpp")[0].outputs

    header.write_text('#define OUT "out"\n')
    assert outputs() == outputs() == ("out",)
    assert len(count) == 1
    header.write_text('#define OUT "aus"\n')
    assert outputs() == ("aus",)
    assert len(count) == 2


def test_no_compiler(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    write(tmp_path, RELU_CPP)
    words = ["user_relu/user_relu_cpp_def.cpp", "g++", "user_relu/user_relu_op_def.py", ".py_def()"]
    caught(lambda: load(tmp_path, front_end="cpp_def"), "load", words)


# id: (what is replaced, by what, stage, words)
WRONG = {
    "compile error": ('.Output("out")', '.Outpost("out")', "load",
        ["user_relu/user_relu_cpp_def.cpp does not compile: user_relu_cpp_def.cpp:15:", "Outpost"]),
    "attr of another type": ('.Input("in")', '.Input("in").Attr<char>("c", 1)', "load",
        ["does not compile", "int32_t"]),
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
