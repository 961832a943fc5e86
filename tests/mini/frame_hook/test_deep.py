"""No depth kills the interpreter under the hook: whatever goes deep, in whatever stack."""

import pytest

from helpers.mini import frame_hook
from tests.pythons import VERSIONS, run

SMALL, MAIN = 200_000, 0


def go_deep(way, size=MAIN, version="3.11"):
    """Go deep in a bare child; return how it ended there. A child that dies fails the test."""
    code = f"from tests.mini.frame_hook import deep\ndeep.main({way!r}, {size})"
    return run(version, code).strip()


@pytest.mark.skipif(not frame_hook.available().startswith("the course"), reason="no extension")
def test_a_deep_program_ends_in_a_recursion_error():
    assert go_deep("caught") == "value"
    assert go_deep("plain") == go_deep("exhausted", SMALL) == "RecursionError"


@pytest.mark.needs("c-compiler")
@pytest.mark.parametrize("version", VERSIONS[1:])
def test_other_pythons_go_deep_and_live(version):
    assert go_deep("exhausted", SMALL, version) == "RecursionError"


@pytest.mark.needs("c-compiler")
@pytest.mark.parametrize("version", VERSIONS)
def test_interpreter_ends_with_the_hook_on(version):
    code = (
        "import sys, threading\n"
        "from helpers.mini.frame_hook import watching\n"
        "hook = watching(lambda code, arguments: print(code.co_name, file=sys.stderr))\n"
        "hook.__enter__()\n"
        "threading.Thread(target=threading.Event().wait, daemon=True).start()\n"
    )
    run(version, code)
