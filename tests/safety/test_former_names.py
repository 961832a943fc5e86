"""A name that is not offered: one sentence says what to use, and no frame of the course's."""

import os
import re
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import lazy_loader
import pytest

import helpers
from helpers.safety import former_names, missing_parts
from helpers.safety.former_names import OLD_CHECKS, OLD_NAMES
from helpers.study import check
from package.build import without_study
from tests import pythons
from tests.front_door import HOMES, STUB
from tests.without import cells_without

EVERY_NAME = [(name, f"from helpers import {name}") for name in OLD_NAMES]
EVERY_NAME += [(name, f"import helpers; helpers.{name}") for name in OLD_NAMES]
EVERY_CHECK = [(name, f"from helpers import check; check.{name}(1)") for name in OLD_CHECKS]
MISSPELT = [
    ("watch_traces?", "from helpers import wach_traces"),
    ("watch_traces?", "import helpers; helpers.wach_traces"),
    ("show_graph?", "from helpers import show_bytecode, show_grph"),
    ("warm_up", "from helpers import check; check.warmup(1)"),
]


@pytest.fixture(scope="module")
def lazy(tmp_path_factory):
    """A folder with the package that the front door needs, for a Python that has no packages."""
    folder = tmp_path_factory.mktemp("lazy")
    shutil.copytree(Path(lazy_loader.__file__).parent, folder / "lazy_loader")
    return folder


def last_of(source, *folders, python=sys.executable):
    """Return the lines of a plain Python's traceback that show a frame, and its last line.

    The first of the folders has the package.
    """
    path = os.pathsep.join(map(str, folders))
    env = {**os.environ, "PYTHONPATH": path, "JPY_SESSION_NAME": ""}
    done = pythons.finished([python, "-c", f"{source}\n"], env=env, cwd=folders[0])
    lines = done.stderr.splitlines()
    return [line for line in lines if line.startswith("  File ")], lines[-1]


def raised(source):
    with pytest.raises((AttributeError, ImportError)) as caught:
        exec(source, {})
    return caught.value


@pytest.mark.parametrize(("word", "source"), EVERY_NAME + EVERY_CHECK + MISSPELT)
def test_one_sentence_says_what_to_use_and_no_frame_of_the_course_is_shown(word, source):
    error = raised(source)
    assert error._render_traceback_() == [str(error)] and word in str(error)
    assert "\n" not in str(error) and str(error)[-1] in ".?s"
    frames = []
    trace = error.__traceback__
    while trace is not None:
        frames.append(trace.tb_frame.f_code.co_filename)
        trace = trace.tb_next
    assert frames == [__file__, "<string>"]


def test_what_to_use_is_offered():
    offered = {"helpers": set(HOMES), "check": set(check._chapters_by_name)}
    for old, now, prefix in ((OLD_NAMES, "helpers", ""), (OLD_CHECKS, "check", "check.")):
        assert not offered[now].intersection(old)
        for name, (chapter, words) in old.items():
            assert 0 <= chapter <= 7
            sentence = former_names._describe_old_name(name, chapter, words, offered[now], prefix)
            is_new_name = " " not in words
            assert is_new_name == (words in offered[now]), name
            assert (f"{prefix}{words}" if is_new_name else words) in sentence, name


def test_who_asks_whether_a_name_is_there_hears_no():
    for name in (*OLD_NAMES, "wach_traces", "zzz", "__wrapped__"):
        assert not hasattr(helpers, name)
    assert not any(hasattr(check, name) for name in (*OLD_CHECKS, "zzz", "__wrapped__"))
    assert getattr(helpers, "show_nested", 3) == 3


def test_a_name_that_nothing_is_near_is_missing_as_anywhere():
    for source in ("from helpers import zzz", "import helpers; helpers.zzz"):
        assert not isinstance(raised(source), missing_parts.OneSentence)
    exec("from helpers import safety, exhibit, view", {})


@pytest.mark.parametrize("version", pythons.VERSIONS)
def test_in_plain_python_only_the_readers_line_is_shown(version, lazy):
    path = pythons.found(version)
    if path is None:
        pytest.skip(f"no Python {version} on this machine")
    sources = ["from helpers import show_nested", "import helpers; helpers.show_nested"]
    sources += ["import helpers; helpers.wach_traces"]
    for source in sources:
        frames, said = last_of(source, pythons.ROOT, lazy, python=path)
        assert frames == ['  File "<string>", line 1, in <module>']
        assert said.count("show_table") + said.count("watch_traces") == 1


def test_in_a_notebook_only_the_sentence_is_shown():
    sources = [source for _, source in EVERY_NAME[:1] + EVERY_CHECK[:1] + MISSPELT]
    for cell in cells_without([], sources):
        assert cell.error and cell.shown.count("\n") == 1, cell.shown


@pytest.mark.parametrize(
    ("session", "number"),
    [
        ("06_eager_execution.ipynb", "06"),
        ("/home/a/work/00_start_here.ipynb", "00"),
        ("mine.ipynb", "02"),
        ("", "02"),
    ],
)
def test_the_chapter_that_is_open_is_the_one_to_bring(monkeypatch, session, number):
    monkeypatch.setenv("JPY_SESSION_NAME", session)
    assert f"course.py reset {number}`" in str(raised("import helpers; helpers.show_nested"))


def test_outside_the_course_its_commands_are_not_named(tmp_path):
    """The wheel is `helpers` less `study` and `course`."""
    package = tmp_path / "whoruns"
    package.mkdir()
    shutil.copy(pythons.ROOT / "helpers" / "__init__.py", package)
    (package / "__init__.pyi").write_text(without_study(STUB.read_text("utf-8")), "utf-8")
    shutil.copytree(pythons.ROOT / "helpers" / "safety", package / "safety")
    for name, words in {"show_nested": "show_table", "wach_traces": "watch_traces"}.items():
        frames, said = last_of(f"from whoruns import {name}", tmp_path)
        assert words in said and "course.py" not in said and len(frames) == 1
    frames, said = last_of("from whoruns import check", tmp_path)
    assert re.search(r"\bcheck\b.*\bcourse\b", said) and "course.py" not in said
    assert len(frames) == 1


def history_is_whole() -> bool:
    """Return whether git has all commits of the course here."""
    with suppress(OSError):
        asked = ["git", "rev-parse", "--is-shallow-repository"]
        return pythons.finished(asked, cwd=pythons.ROOT).stdout == "false\n"
    return False


@pytest.mark.skipif(not history_is_whole(), reason="no history here")
def test_every_name_that_a_chapter_ever_used_is_offered_or_known():
    """What notebooks of any time import from the front door, and which checks they call."""
    words = ["git", "log", "-p", "--format=", "--unified=0", "--no-ext-diff", "--no-textconv"]
    words += ["-G", r"from helpers import|check\.[a-z_0-9]+\(", "--", "notebooks/0*.ipynb"]
    told = subprocess.run(words, cwd=pythons.ROOT, capture_output=True, check=True).stdout
    imports, checks = set(), set()
    for line in told.decode("utf-8", "replace").splitlines():
        if found := re.match(r'[-+]\s+"from helpers import ([\w, ]+?)(?: +#.*)?(?:\\n)?",?$', line):
            imports.update(name.split()[0] for name in found[1].split(", "))
        if found := re.match(r'[-+]\s+"check\.(\w+)\(', line):
            checks.add(found[1])
    rooms = {path.stem for path in (pythons.ROOT / "helpers").iterdir()}
    assert len(imports) > 60 and imports <= {*HOMES, *OLD_NAMES, *rooms}
    assert len(checks) > 50 and checks <= {*check._chapters_by_name, *OLD_CHECKS}
