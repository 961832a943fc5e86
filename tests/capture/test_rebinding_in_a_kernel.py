"""A builtin rebound in a real kernel, whose threads call it too: what is printed still arrives."""

import pytest

from helpers.capture.references import kernel_modules
from tests.a_kernel import Client

SETUP = """
import builtins, sys, time
from IPython.display import display
from helpers import rebind_everywhere

def bad(*args, **kwargs):
    raise ValueError("the replacement was called")

def modules(name):
    return {m for m, module in list(sys.modules.items()) if name in vars(module)}
"""
BLOCK = """
old, before = builtins.{name}, modules("{name}")
with rebind_everywhere(old, bad) as patch:
    replaced = builtins.{name} is bad
    sys.stdout.write("inside\\n")
    display({{"text/plain": "shown"}}, raw=True)
    time.sleep(0.3)
    sys.stdout.flush()
print(patch, replaced, builtins.{name} is old, modules("{name}") == before)
"""
LEFT_OPEN = """
patch = rebind_everywhere(len, bad)
inside = patch.__enter__()
"""


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    client = Client(tmp_path_factory.mktemp("kernel"))
    assert client.run(SETUP) == ""
    yield client
    client.end()


@pytest.mark.parametrize("name", ["len", "isinstance", "getattr", "hasattr", "iter", "open"])
def test_kernel_answers_while_a_builtin_is_rebound(kernel, name):
    shown = kernel.run(BLOCK.format(name=name))
    assert shown.startswith("inside\n") and "shown" in shown
    assert "places rebound" in shown and "left" in shown
    assert "modules that the kernel runs in keep the original" in shown
    assert shown.endswith(" True True True\n")
    assert kernel.run("print(1 + 1)") == "2\n"


def test_what_the_kernel_itself_holds_is_left(kernel):
    assert kernel_modules.REASON in kernel.run(BLOCK.format(name="open"))


@pytest.mark.parametrize("name", ["__import__", "__build_class__"])
def test_builtin_that_no_module_can_shield_is_left_where_the_kernel_finds_it(kernel, name):
    shown = kernel.run(
        f"""
try:
    with rebind_everywhere(builtins.{name}, bad) as patch:
        import colorsys
        class C: pass
    print(patch)
except ValueError as error:
    print(error)
"""
    )
    assert kernel_modules.REASON in shown
    assert kernel.run("print(1 + 1)") == "2\n"


@pytest.mark.parametrize(
    "name", ["json.dumps", "json.JSONEncoder.encode", "threading.Thread.join", "asyncio.run"]
)
def test_function_that_the_kernel_runs_in_keeps_its_code(kernel, name):
    shown = kernel.run(
        f"""
import asyncio, json, threading
from helpers import code_swapped
try:
    with code_swapped({name}, lambda *given, **named: "{{}}"):
        print("inside")
except ValueError as error:
    print(error)
"""
    )
    assert kernel_modules.REASON in shown and "inside" not in shown
    assert kernel.run("print(1 + 1)") == "2\n"


def test_function_of_the_learners_own_may_have_other_code_in_a_kernel(kernel):
    cell = "def f(): return 1\nwith code_swapped(f, lambda: 2): print(f())\nprint(f())"
    assert kernel.run(f"from helpers import code_swapped\n{cell}") == "2\n1\n"


def test_block_may_stay_open_from_cell_to_cell(kernel):
    assert kernel.run(LEFT_OPEN) == ""
    assert kernel.run("try:\n    len('ab')\nexcept ValueError as e:\n    print(e)") == (
        "the replacement was called\n"
    )
    assert "division by zero" in kernel.run("1 / 0")
    assert kernel.run("patch.__exit__(None, None, None)\nprint(len('ab'))") == "2\n"
    assert kernel.run("print(patch.leftover)") == "()\n"


# Cells of a kernel that has not shown an error or sent much yet -> what each prints and shows.
FIRSTS = {
    "much output under a block": (
        (
            "with rebind_everywhere(len, bad): display({'text/plain': 'x' * 300_000}, raw=True)",
            "xxx",
        ),
        ("'y' * 300_000", "yyy"),
    ),
    "much output under an open block": (
        ("patch = rebind_everywhere(len, bad)\ninside = patch.__enter__()", ""),
        ("'x' * 300_000", "xxx"),
        ("patch.__exit__(None, None, None)\n'y' * 300_000", "yyy"),
    ),
    "a verb under an open block": (
        ("patch = rebind_everywhere(getattr, lambda *a: None)\nr = patch.__enter__()", ""),
        ("from helpers import show_names\nshow_names('patch')", "Traceback"),
        ("patch.__exit__(None, None, None)\nprint(type(sys.stdout).__name__)", "OutStream"),
    ),
    "an error under an open block": (
        ("patch = rebind_everywhere(isinstance, bad)\nr = patch.__enter__()", ""),
        ("1 / 0", "division by zero"),
        ("patch.__exit__(None, None, None)\n[][1]", "list index out of range"),
    ),
}


@pytest.mark.parametrize("cells", FIRSTS.values(), ids=FIRSTS)
def test_a_fresh_kernel_shows_what_comes_first_and_lives(tmp_path, cells):
    kernel = Client(tmp_path)
    try:
        for number, (code, shown) in enumerate(cells):
            assert shown in kernel.run(code if number else SETUP + code)
        assert kernel.run("print(len('ab'))") == "2\n"
    finally:
        kernel.end()


def test_places_of_a_shield_are_no_places(kernel):
    code = (
        "from helpers.capture.references.holder_search import find_holders\n"
        "before = len(find_holders(repr))\n"
        "with rebind_everywhere(repr, bad):\n"
        "    inside = [p.binding.path for p in find_holders(old_repr)]\n"
        "print(inside, len(find_holders(repr)) == before)"
    )
    shown = kernel.run(f"old_repr = repr\n{code}")
    assert "ipykernel." not in shown and shown.endswith("True\n")
