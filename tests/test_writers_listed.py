"""In helpers/, only helpers/safety deletes, moves, overwrites and starts; who makes is listed here.

Who adds a line says by that: it touches only what it has made itself this very moment.
"""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ANYBODYS = {
    *("rmtree", "unlink", "rmdir", "rename", "write_text", "write_bytes", "copyfile", "copytree"),
    *("mkdir", "makedirs", "mkdtemp", "mkstemp", "symlink_to", "touch", "chmod", "Popen", "fork"),
}
OF_OS = {"remove", "replace", "truncate", "execve", "system", "kill", "killpg"}
LISTED = {
    # environments that have the course's stamp, and the programs that make and start them
    "helpers/course/book/runs.py": {"kill"},  # the kernel that it started
    "helpers/course/checkout.py": {"Popen", "execve"},
    "helpers/course/shown_process.py": {"Popen", "open"},
    "helpers/course/installed_packages.py": {"rmtree", "write_text"},
    "helpers/course/lifecycle.py": {"rename"},
    "helpers/course/stamp.py": {"open", "replace", "unlink"},
    "helpers/course/trash.py": {"mkdir", "rename", "rmdir", "rmtree", "unlink"},
    "helpers/course/virtual_environment.py": {"mkdir", "replace", "write_bytes"},
    "helpers/course/handout.py": {"mkdir"},
    "helpers/course/work_copies.py": {"mkdir"},
    "helpers/exhibit.py": {"write_text"},  # where its caller says
    "helpers/mini/oneflow/cpp_program.py": {"mkdir"},
    "helpers/study/chapter_7/clinic_projects.py": {"write_text"},  # in the folder of a child
}


def writers(source: str) -> set[str]:
    """Return what a source calls that deletes, moves, overwrites or makes files, or a process."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            name, _, owner = ast.unparse(node.func).rpartition(".")[::-1]
            modes = [str(one.value) for one in node.args if isinstance(one, ast.Constant)]
            writes = name == "open" and any(mode and set(mode) <= set("wxab+") for mode in modes)
            if name in ANYBODYS or owner == "os" and name in OF_OS or writes:
                found.add(name)
    return found


def test_every_writer_of_the_helpers_is_in_safety_or_listed():
    paths = sorted((ROOT / "helpers").rglob("*.py"))
    found = {path.relative_to(ROOT).as_posix(): writers(path.read_text("utf-8")) for path in paths}
    assert sum(map(bool, found.values())) > len(LISTED)
    outside = {place: calls for place, calls in found.items() if "helpers/safety/" not in place}
    assert {place: calls for place, calls in outside.items() if calls} == LISTED


@pytest.mark.parametrize(
    "source", ["shutil.rmtree(a)", "a.unlink()", "a.rename(b)", "os.replace(a, b)", "open(a, 'w')"]
)
def test_a_new_writer_would_be_seen(source):
    assert writers(source) and not writers("'a'.replace('a', 'b'); open(a, 'rb'); xs.remove(3)")
