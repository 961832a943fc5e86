"""No depth kills the interpreter under the hook: whatever goes deep, in whatever stack."""

import sys

import pytest

from helpers.mini import frame_hook
from tests.mini.frame_hook import deep, interrupts
from tests.pythons import ROOT, VERSIONS, run

SMALL, MAIN = "200000", "0"


def went(way, stack=MAIN, entry="0", who="here", version="3.11", before=""):
    """Go deep in a bare child; return how it ended there. A child that dies fails the test."""
    code = (
        f"{before}\nfrom tests.mini.frame_hook import deep\n"
        f"deep.main({way!r}, {stack!r}, {entry!r}, {who!r})"
    )
    return run(version, code).strip().strip("[']")


@pytest.mark.parametrize("way", ["plain", "sorted_keys", "shown", "caught"])
def test_main_thread_goes_deep_and_lives(way):
    assert went(way) == ("value" if way == "caught" else "RecursionError")


@pytest.mark.parametrize("way", ["plain", "exhausted", "thrown", "nested", "equals"])
def test_small_stack_of_a_thread_is_known(way):
    assert went(way, SMALL) == "RecursionError"


@pytest.mark.parametrize("way", ["plain", "awaited"])
@pytest.mark.parametrize("stack", [MAIN, SMALL])
def test_thread_that_has_no_hook_of_its_own_is_checked_too(way, stack):
    assert went(way, stack, who="elsewhere") == "RecursionError"


def test_hook_that_is_entered_deep_in_c_calls():
    assert went("plain", entry="9000") == "RecursionError"


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel reads it when a program starts")
@pytest.mark.parametrize("limit", [-1, 1 << 20])
def test_limit_of_the_main_stack_is_asked_for(limit):
    """Start a child again with another limit: `ulimit -s`, the unlimited one included."""
    again = (
        "import os, resource, sys\n"
        f"if resource.getrlimit(resource.RLIMIT_STACK)[0] != {limit}:\n"
        f"    resource.setrlimit(resource.RLIMIT_STACK, ({limit}, -1))\n"
        "    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])"
    )
    assert went("mapped", before=again) == "RecursionError"


@pytest.mark.parametrize("version", ["3.12", "3.13"])
def test_other_pythons_go_deep_and_live(version):
    for way in ("plain", "compared", "awaited", "attributes", "nested"):
        assert went(way, SMALL, version=version) == "RecursionError", way


@pytest.mark.own_process
def test_no_interrupt_leaves_a_hook_on():
    came, left = interrupts.left_on(400, seed=1)
    assert came > 300 and left == 0


@pytest.mark.own_process
def test_limit_that_is_lowered_meanwhile_is_seen():
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_STACK)
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(10**6)
    try:
        with frame_hook.watching(deep.ask):
            resource.setrlimit(resource.RLIMIT_STACK, (2 << 20, hard))
            assert deep.outcome(lambda: deep.plain(10**5)) == "RecursionError"
    finally:
        resource.setrlimit(resource.RLIMIT_STACK, (soft, hard))
        sys.setrecursionlimit(before)


@pytest.mark.parametrize("version", VERSIONS)
def test_interpreter_ends_with_the_hook_on(version):
    code = (
        "import atexit, sys, threading\n"
        "from helpers.mini.frame_hook import watching\n"
        "class Dies:\n"
        "    def __del__(self): return len([self])\n"
        "hook = watching(lambda code, arguments: print(code.co_name, file=sys.stderr))\n"
        "hook.__enter__()\n"
        "kept = Dies(); kept.cycle = kept\n"
        "atexit.register(lambda: Dies())\n"
        "threading.Thread(target=threading.Event().wait, daemon=True).start()\n"
    )
    run(version, code)


SUBINTERPRETER = """
import {module} as interpreters, sys
from helpers.mini import frame_hook
print(frame_hook.available())
ours = interpreters.create()
code = '''
import sys, types
sys.path[:] = {path!r}
house = types.ModuleType("helpers"); house.__path__ = [{house!r}]; sys.modules["helpers"] = house
sys.modules["torch"] = None
from helpers.mini import frame_hook
assert "torch" in frame_hook.why_not(), frame_hook.why_not()
'''
found = interpreters.run_string(ours, code)
assert found is None, found
"""


@pytest.mark.parametrize(
    ("version", "module"), [("3.11", "_xxsubinterpreters"), ("3.13", "_interpreters")]
)
def test_other_interpreters_of_the_process_are_refused(version, module):
    path = run(version, "import sys; print('\\n'.join(sys.path))").split()
    code = SUBINTERPRETER.format(module=module, path=path, house=str(ROOT / "helpers"))
    assert run(version, code).strip() == "the course's C extension"
