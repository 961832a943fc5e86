"""The hook where it must be built, where it cannot be, and where only torch's own is left."""

import os
import sys

import pytest

from tests.pythons import BARE, VERSIONS, finished, run

pytestmark = pytest.mark.own_process

NO_TORCH = "import sys; sys.modules['torch'] = None\n"
TELL = "from helpers.mini import frame_hook as fh; print(fh.available() or fh.why_not())\n"
CASES = (
    "order_and_count every_kind_of_parameter exceptions_and_tracebacks recursion_to_the_limit"
    " generators swapped_code replaced_frames callback_that_raises a_hook_in_a_hook"
)


def child(code, tmp_path, **changed):
    env = {**os.environ, "XDG_CACHE_HOME": str(tmp_path), **changed}
    done = finished([sys.executable, "-X", "faulthandler", "-c", BARE + code], env=env)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.needs("c-compiler")
@pytest.mark.parametrize("version", VERSIONS)
def test_a_bare_python_builds_it_in_an_empty_cache(version, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert run(version, TELL) == "the course's C extension\n"
    assert len(list(tmp_path.rglob("_frame_hook*"))) == 1


@pytest.mark.needs("c-compiler")
@pytest.mark.long
def test_built_once_and_found_again(tmp_path):
    assert "C extension" in child(TELL, tmp_path)
    (built,) = tmp_path.rglob("_frame_hook*")
    stamp = built.stat().st_mtime_ns
    assert "C extension" in child(TELL, tmp_path)
    assert [path.stat().st_mtime_ns for path in tmp_path.rglob("_frame_hook*")] == [stamp]


@pytest.mark.long
def test_without_compiler_and_torch_one_sentence(tmp_path):
    told = child(NO_TORCH + TELL, tmp_path, PATH="/nowhere")
    assert told.count("\n") == 1
    assert "C compiler" in told and "torch" in told
    code = "try:\n    fh.watching(print).__enter__()\nexcept RuntimeError as e: print(e)"
    assert child(NO_TORCH + TELL + code, tmp_path, PATH="/nowhere") == told * 2


@pytest.mark.long
def test_compiler_that_fails_is_told(tmp_path):
    told = child(NO_TORCH + TELL, tmp_path, CC="false")
    assert "C compiler" in told and told.count("\n") == 1
    assert not list(tmp_path.rglob("*.so"))


@pytest.mark.long
def test_torchs_hook_where_there_is_no_compiler(tmp_path):
    code = (
        f"{TELL}from tests.mini.frame_hook import cases\n"
        f"for name in {CASES!r}.split():\n    cases.CASES[name](); cases.off()\n"
        "import torch\n"
        "with fh.watching(lambda code, args: None): now = fh.installed()[0].owner\n"
        "print(now)\n"
        "c = torch.compile(cases.add, backend='eager')\n"
        "with fh.replaced(cases.add, max): print(cases.add(1, 2))\n"
        "print(c(torch.ones(1), 2).item(), cases.add(1, 2))\n"
    )
    told = child(code, tmp_path, PATH="/nowhere").splitlines()
    assert told == ["torch's own hook", "torch", "2", "3.0 3"]
