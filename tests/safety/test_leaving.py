"""`exit()` in code that a verb runs, in a real kernel: it ends the cell, and the kernel goes on."""

import pytest

from tests.a_kernel import Client

SETUP = """
import numbers
from helpers import check, predict, watch_frames, watch_names

class Count:
    def __index__(self):
        exit()

numbers.Integral.register(Count)
kept = "kept"

def leaves():
    quit()
"""


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    client = Client(tmp_path_factory.mktemp("kernel"))
    client.run(SETUP)
    yield client
    client.end()


@pytest.mark.parametrize(
    ("cell", "says"),
    [
        ('print(predict("Which?", ["SystemExit", "None"], run=leaves).answer)', "SystemExit"),
        ("print(check.warm_up(Count()))", "your code raised SystemExit"),
        ("seen = watch_frames(leaves)", "It raised SystemExit"),
        ("seen = watch_names(leaves)", "raised SystemExit"),
    ],
)
def test_exit_is_told_as_system_exit_and_the_kernel_lives(kernel, cell, says):
    assert says in kernel.run(cell)
    assert kernel.run("import time; time.sleep(0.3)") == ""
    assert kernel.run("print(kept)") == "kept\n"


def test_exit_is_the_shells_own_again_after_the_verb(kernel):
    kernel.run("watch_names(leaves)")
    assert kernel.run("print('ask_exit' in vars(get_ipython()))") == "False\n"
