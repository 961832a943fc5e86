"""TensorFlow before Dynamo kills a process where torch brings Triton: verbs refuse in a sentence.

A Triton that dies as the real one does stands in where there is none.
"""

from importlib.util import find_spec

import pytest

from helpers.internals.torch_private import LATE
from tests.without import cells_without
from tools.instrument_examples import EXAMPLE, SECTIONS, SETUP

pytestmark = pytest.mark.long

STAND_IN = """\
import os, sys

if "tensorflow" in sys.modules and not hasattr(sys, "its_llvm"):
    os.kill(os.getpid(), 11)
sys.its_llvm = "loaded"
raise ImportError("a stand-in")
"""
DEADLY = ["import torch", "import tensorflow as tf"]
EXAMPLES = [source for examples in SECTIONS.values() for source in examples.values()]
MORE = [
    "from helpers.mini.dynamo import compile; compile(scale)(torch.ones(2))",
    "watch_inductor(scale, torch.ones(2), run=True)",
    "from helpers.study.chapter_7.means_table import build_route_calls; build_route_calls()",
    "from helpers.study.chapter_7.compiled_cases import CompiledLog; CompiledLog(scale)",
]
REFUSED = (
    *("watch_compile", "watch_rewriting", "watch_breaks", "watch_fixes", "watch_recompiles"),
    *("watch_guard_sets", "watch_ops"),
)


@pytest.fixture
def triton(tmp_path):
    """Return a folder in which Triton is; an empty one where this Python has a real one."""
    if find_spec("triton") is None:
        (tmp_path / "triton").mkdir()
        (tmp_path / "triton/__init__.py").write_text(STAND_IN, "utf-8")
    return str(tmp_path)


def test_the_other_order_kills_without_any_verb(triton):
    with pytest.raises(AssertionError, match="Segmentation fault"):
        cells_without([], [*DEADLY, "torch.compile(lambda x: x)"], triton)


def test_verbs_that_need_dynamo_refuse_and_all_others_run(triton):
    cells = ["from helpers import *", *DEADLY, EXAMPLE, *EXAMPLES, *MORE]
    told = cells_without([], cells, triton)
    refused = {one.source: one.shown for one in told if one.error == "MissingPart"}
    assert all(LATE in shown for shown in refused.values())
    examples = SECTIONS[4] | SECTIONS[6]
    assert {*(examples[name] for name in REFUSED), *MORE} - refused.keys() == set()
    # The others that fail use a name that a refused example has not made.
    assert {one.error for one in told} == {"", "MissingPart", "NameError"}


def test_in_the_order_of_the_page_none_is_refused(triton):
    told = cells_without([], [SETUP, EXAMPLE, SECTIONS[4]["watch_compile"], *MORE[:1]], triton)
    assert [one.error for one in told] == [""] * 4
