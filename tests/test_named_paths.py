"""Each file, module and command that a comment, a docstring, a page or a setting names is there."""

import ast
import importlib.util
import json
import re
import subprocess
import tokenize
from pathlib import Path

import pytest

from helpers.course.commands import COMMANDS
from tests.pythons import ROOT

PROSE = {".md", ".toml", ".cfg", ".yml", ".yaml", ".sh", ".ini"}
# What begins with a folder of the root. A glob and a folder count as well.
NAMED = r"(?<![\w./:@-])((?:\./)?(?:{tops})/[][\w.*/-]*[\w*/])"
CI = ".ci/run"
PLACEHOLDER = re.compile(r"\bchapter_N\b|/N\b|/NAME\b|…|\.\.\.")


def tracked_files() -> list[str]:
    """Return the paths of all files that git knows here, or that are new; skip without git."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    try:
        found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no git, so it is not known which files are of the repository")
    return [name for name in found.stdout.splitlines() if (ROOT / name).is_file()]


def prose_of(path: Path) -> str:
    """Return what a file says in words: comments and docstrings of Python, else all of it."""
    if path.suffix in PROSE or path == ROOT / CI:
        return path.read_text("utf-8")
    with path.open("rb") as opened:
        tokens = list(tokenize.tokenize(opened.readline))
    words = [token.string for token in tokens if token.type == tokenize.COMMENT]
    documented = ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, documented):
            words.append(ast.get_docstring(node) or "")
    return "\n".join(words)


class Tree:
    """The files of a repository; it finds the paths in a text that are none of them."""

    def __init__(self, files: list[str]):
        self.files = files
        self.there = {*files, *(up.as_posix() for name in files for up in Path(name).parents)}
        tops = sorted({name.partition("/")[0] for name in files if "/" in name})
        self.named = re.compile(NAMED.format(tops="|".join(map(re.escape, tops))))

    def missing(self, words: str, base: str = ".") -> list[str]:
        """Return the paths in a text of the folder `base` that are no file, folder or pattern."""
        found = dict.fromkeys(self.named.findall(words))
        return [path for path in found if not self._has(path.rstrip("/"), base)]

    def _has(self, path: str, base: str) -> bool:
        places = {path.removeprefix("./"), (Path(base) / path).as_posix()}
        if PLACEHOLDER.search(path) or places & self.there:
            return True
        globs = [place for place in places if "*" in place]
        return any(Path(name).match(place) for place in globs for name in self.files)


def is_made(path: str) -> bool:
    """Return whether git ignores a file or a folder: it is made where the course is used."""
    path = path.rstrip("/")
    command = ["git", "check-ignore", "--no-index", path, f"{path}/"]
    return subprocess.run(command, cwd=ROOT, capture_output=True).returncode == 0


def test_each_named_file_is_there():
    """False 29: four places named files that were gone."""
    files = tracked_files()
    tree, gone = Tree(files), {}
    for name in files:
        path, base = ROOT / name, Path(name).parent.as_posix()
        if path.suffix not in {*PROSE, ".py"} and name != CI:
            continue
        if not tree.missing(path.read_text("utf-8"), base):
            continue  # so none is gone in its comments
        paths = [each for each in tree.missing(prose_of(path), base) if not is_made(each)]
        if paths:
            gone[name] = paths
    assert gone == {}


MODULE = re.compile(r"-m ((?:helpers|tests|tools)\.[\w.]*\w)")
COMMAND = re.compile(r"`(?:python[\d.]* )?course\.py ([a-z]+)\b")


def lost_commands(words: str) -> list[str]:
    """Return what a text tells to start that is neither a module nor a command of course.py."""
    modules = [name for name in MODULE.findall(words) if not is_module(name)]
    return modules + [name for name in COMMAND.findall(words) if name not in COMMANDS]


def is_module(name: str) -> bool:
    """Return whether a module of this repository can be found."""
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # not even its package
        return False


def text_of_cells(path: Path) -> str:
    """Return the text cells of a notebook."""
    cells = json.loads(path.read_text("utf-8"))["cells"]
    return "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")


def test_each_named_module_and_command_is_there():
    lost = {}
    for name in tracked_files():
        path = ROOT / name
        if path.suffix == ".ipynb":
            words = text_of_cells(path)
        elif path.suffix in {*PROSE, ".py"} or name == CI:
            words = prose_of(path)
        else:
            continue
        if found := lost_commands(words):
            lost[name] = found
    assert lost == {}


def test_a_module_or_a_command_that_is_gone_is_named():
    words = "`python -m tests.no_such`, `python3 course.py redo 3`, `course.py lab`, -m tools.look"
    assert lost_commands(words) == ["tests.no_such", "redo"]


@pytest.mark.parametrize(
    ("words", "gone"),
    [
        ("runs package/trial.py weekly", ["package/trial.py"]),
        ("`docs/book.md:44` says, and docs/nobody.md.", ["docs/nobody.md"]),
        ("in tests/, and in `tests/view/`; tests/vieww/", ["tests/vieww/"]),
        ("tests/test_*.py and tests/nothing_*.py", ["tests/nothing_*.py"]),
        ("elsewhere/tests/gone.py and https://x.org/docs/gone.md", []),
        ("`helpers/study/chapter_N/`", []),
    ],
)
def test_a_file_that_is_gone_is_named(words, gone):
    files = [
        "docs/book.md",
        "package/build.py",
        "tests/view/a.py",
        "tests/test_a.py",
        "helpers/a.py",
    ]
    assert Tree(files).missing(words) == gone


QUOTED = re.compile(
    r"^```python\n# ((?:helpers|tests|tools)/\S+\.py)\n(.*?)^```", re.DOTALL | re.MULTILINE
)


def lost_quotations(page: str) -> list[str]:
    """Return the passages that a page quotes from a file, and that are not in the file.

    A quotation is a code block whose first line is a comment with the path. A line with `…` alone
    stands for lines that are left out.
    """
    lost = []
    for path, code in QUOTED.findall(page):
        text = (ROOT / path).read_text("utf-8")
        for passage in re.split(r"^ *…\n", code, flags=re.MULTILINE):
            if passage not in text:
                lost.append(f"{path}: {passage.strip()}")
    return lost


def test_code_that_contributing_quotes_is_in_its_file():
    page = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    assert QUOTED.search(page)
    assert lost_quotations(page) == []


def test_a_quotation_that_is_out_of_date_is_named():
    page = "```python\n# tests/pythons.py\nROOT = 3\n…\nimport sys\n```\n"
    assert lost_quotations(page) == ["tests/pythons.py: ROOT = 3"]
