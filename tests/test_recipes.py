"""docs/recipes_*.md: every block runs, under the name of the package, and prints what is stated."""

import json
import re
import sys

import pytest

from tests.pythons import ROOT, finished

PAGES = sorted((ROOT / "docs").glob("recipes_*.md"))
BLOCK = re.compile(r"```(python|text|console)\n(.*?)```", re.DOTALL)
RUN = """\
import contextlib, io, json, os, runpy, sys
if sys.argv[1] == "torch":
    import torch._dynamo
import helpers
sys.modules["whoruns"], printed = helpers, []
for folder in sys.argv[2:]:
    os.chdir(folder)
    with contextlib.redirect_stdout(io.StringIO()) as out:
        runpy.run_path("train.py", run_name="__main__")
    printed.append(out.getvalue())
print(json.dumps(printed))
"""


def first_unprinted(stated: str, printed: str) -> str:
    """Return the first stated line that is not there, in order; between lines `…` may be others."""
    there = [line.rstrip() for line in printed.splitlines()]
    for part in re.split(r"^…$", stated, flags=re.MULTILINE):
        for at, line in enumerate(filter(None, map(str.rstrip, part.splitlines()))):
            if line not in (there[:1] if at else there):
                return line
            del there[: there.index(line) + 1]
    return ""


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_every_recipe_runs_and_prints_what_it_states(path, tmp_path):
    sections, folders = path.read_text("utf-8").split("\n## ")[1:], []
    for number, section in enumerate(sections):
        folders.append(tmp_path / str(number))
        folders[-1].mkdir()
        code = "\n".join(text for kind, text in BLOCK.findall(section) if kind == "python")
        (folders[-1] / "train.py").write_text(code, "utf-8")
    command = [sys.executable, "-c", RUN, path.stem.rpartition("_")[2], *map(str, folders)]
    done = finished(command, cwd=ROOT)
    assert done.returncode == 0, done.stderr[-3000:]
    for section, printed in zip(sections, json.loads(done.stdout), strict=True):
        stated = [text for kind, text in BLOCK.findall(section) if kind == "text"]
        assert stated and first_unprinted("\n…\n".join(stated), printed) == "", printed


def test_pytest_prints_the_whole_exhibit(tmp_path):
    section = (ROOT / "docs" / "recipes_torch.md").read_text("utf-8").split("\n## ")[1]
    code, test = (text for kind, text in BLOCK.findall(section) if kind == "python")
    test = test[test.index("def test_") :].replace("Branchless()", "Net()")
    test = code.partition("\nwith ")[0] + "\n\n\n" + test.replace(", drop_last=True", "")
    (tmp_path / "test_train.py").write_text(test.rpartition("\ntest_")[0], "utf-8")
    alias = f"import sys; sys.path.insert(0, {str(ROOT)!r}); import torch._dynamo, helpers\n"
    (tmp_path / "conftest.py").write_text(f"{alias}sys.modules['whoruns'] = helpers\n", "utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--show-capture=stdout"]
    done = finished(command, cwd=tmp_path)
    stated = next(text for kind, text in BLOCK.findall(section) if kind == "console")
    assert first_unprinted(stated, done.stdout) == "" and "__trace" not in done.stdout, done.stdout


def test_a_line_that_is_not_printed_is_told():
    assert first_unprinted("a\n…\nc\n", "a\nb\nc\n") == ""
    assert first_unprinted("a\nc\n", "a\nb\nc\n") == "c" == first_unprinted("c\n", "a\nb\n")
