"""Rebinding in a real kernel, whose threads call what it is made of: its answers still arrive."""

import pytest

from helpers.capture.references.fixed_places import KERNELS, PYTHONS
from tests.a_kernel import Client

TRY = """
import asyncio, builtins, json, threading
from helpers import code_swapped, rebind_everywhere
try:
    with {block}:
        print("inside")
except ValueError as error:
    print(error)
"""


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    client = Client(tmp_path_factory.mktemp("kernel"))
    yield client
    client.end()


@pytest.mark.parametrize(
    ("block", "reason"),
    [
        ("code_swapped(threading.Thread.join, lambda *given: None)", KERNELS),
        ("code_swapped(asyncio.run, lambda *given, **named: None)", KERNELS),
        ("rebind_everywhere(len, lambda *given: 0, only='builtins.len')", PYTHONS),
    ],
)
def test_what_the_kernel_runs_in_is_left_and_it_answers(kernel, block, reason):
    shown = kernel.run(TRY.format(block=block))
    assert reason in shown and "inside" not in shown
    assert kernel.run("print(1 + 1)") == "2\n"


def test_block_may_stay_open_from_cell_to_cell(kernel):
    made = "def f(): return 1\ndef g(): return 2\npatch = rebind_everywhere(f, g)"
    assert kernel.run(f"from helpers import rebind_everywhere\n{made}\nr = patch.__enter__()") == ""
    assert kernel.run("print(f())") == "2\n"
    assert "division by zero" in kernel.run("1 / 0")
    assert kernel.run("patch.__exit__(None, None, None)\nprint(f())") == "1\n"
