"""Where a framework, a package or a compiler is missing, a cell shows one sentence: the cure."""

import pytest

from tests.front_door import HOMES
from tests.without import cells_without

pytestmark = pytest.mark.long

BOTH = ["tensorflow", "torch"]
CURE = "course.py setup"
OF_TENSORFLOW = """agrees cases op_routes py_execute show_autograph show_c_api show_graph
    show_graph_diff show_graph_steps show_imports_then_and_now watch_optimisation watch_race
    watch_traces watch_variables would_trace"""
OF_TORCH = """fit_around guard_function show_compiled show_fx show_guards watch_breaks watch_compile
    watch_guard_sets watch_inductor watch_recompiles watch_rewriting watching_breaks
    watching_recompiles"""
NEEDING = dict.fromkeys(OF_TENSORFLOW.split(), "TensorFlow")
NEEDING |= dict.fromkeys(OF_TORCH.split(), "PyTorch")
CALLS = ("", "f", "{'a': f}", "f, 1", "f, f", "f, 1, run=True")
ALL = "import helpers\nglobals().update({n: getattr(helpers, n) for n in helpers.__all__})"
SETUP = [ALL, "def f(x): return x + 1"]
ASIDE = ("op_folder", "call_in_child", "watch_in_child")  # a folder is made, a Python started


def is_one_sentence(told) -> bool:
    """Return whether all that a cell showed is one line, which has the cure."""
    return bool(told.error) and told.shown.count("\n") == 1 and CURE in told.shown


def test_verbs_of_a_framework_say_that_it_is_missing_and_the_others_do_not_need_it():
    verbs = [name for name in HOMES if name not in ASIDE]
    calls = [f"{name}({given})" for name in verbs for given in CALLS]
    asking = {}
    for one in cells_without(BOTH, [*SETUP, *calls])[len(SETUP) :]:
        assert "No module named" not in one.shown
        if one.error and CURE in one.shown:
            assert is_one_sentence(one)
            asking[one.source.partition("(")[0]] = one.shown.split()[0]
    assert asking == NEEDING


PARTS = {
    "import torch": "PyTorch",
    "torch.ones(2)": "PyTorch",
    "tf.constant(2)": "TensorFlow",
    "from helpers.mini import dynamo\ndynamo.compile": "PyTorch",
    "import networkx": "networkx",
}


def test_a_cell_shows_one_sentence_and_a_check_is_untried():
    checks = [f"check.{name}(f)" for name in ("tape", "op_logger", "dynamo_binary_op")]
    told = cells_without([*BOTH, "networkx"], [*SETUP, *PARTS, *checks, "1 / 0"])[len(SETUP) :]
    for one, part in zip(told, PARTS.values(), strict=False):
        assert is_one_sentence(one) and one.shown.split()[0] == part
    for one in told[len(PARTS) : -1]:
        assert not one.error and "untried" in one.shown and CURE in one.shown
    assert "----> " in told[-1].shown and "ZeroDivisionError" in told[-1].shown


def test_broken_framework_is_one_sentence(tmp_path):
    (tmp_path / "torch").mkdir()
    lines = "def load():\n    raise OSError('libtorch.so: no such file\\nand more')\nload()"
    (tmp_path / "torch" / "__init__.py").write_text(lines)
    lines = "raise ModuleNotFoundError(\"No module named 'tensorflow'\", name='tensorflow')"
    (tmp_path / "tensorflow.py").write_text(lines)
    far = ["def far(): import tensorflow", "call_in_child(far)"]
    sources = [*SETUP, "import torch", "watch_compile(f, 1)", "\n".join(far), "watch_in_child('1')"]
    given = {"path": str(tmp_path), "PYTHONPATH": str(tmp_path)}
    *_, torch, verb, child, forked = cells_without([], sources, **given)
    assert all(map(is_one_sentence, (torch, verb, child, forked)))
    assert "PyTorch" in torch.shown
    assert "OSError: libtorch.so: no such file" in torch.shown and "and more" not in torch.shown
    assert child.shown.split()[0] == "TensorFlow"


WATCHING = "from helpers.mini import frame_hook\nwith frame_hook.watching(print): pass"
IN_CPP = """from helpers import op_folder
from helpers.mini import oneflow as flow
from helpers.mini.oneflow import cpp_program
from pathlib import Path
cpp_program.build_program(Path("some_cpp_def.cpp"))"""
BY_INDUCTOR = "import torch\ntorch.compile(lambda x: x.sin() + 1)(torch.ones(3))"


@pytest.mark.parametrize(
    ("hidden", "source"), [(BOTH, WATCHING), (BOTH, IN_CPP), (["tensorflow"], BY_INDUCTOR)]
)
def test_missing_compiler_is_one_sentence(hidden, source, tmp_path):
    nothing = {"PATH": "/nowhere", "XDG_CACHE_HOME": str(tmp_path), "CC": "", "CXX": ""}
    nothing["TORCHINDUCTOR_CACHE_DIR"] = str(tmp_path)
    told = cells_without(hidden, ["import helpers", source], **nothing)[-1]
    assert told.error and told.shown.count("\n") == 1
    assert "compiler" in told.shown and "sudo apt install g++" in told.shown
