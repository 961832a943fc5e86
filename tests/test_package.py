"""`pip install .`: the wheel is the verbs under the name `whoruns`, and they work away from here.

"Away" is a child in which nobody finds the course, nor any package that the wheel does not ask for.
"""

import os
import sys
import tomllib
import venv
from email import message_from_string
from importlib import metadata
from pathlib import Path
from shutil import copyfile
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import helpers
from helpers.__main__ import MOST_ASKED
from package.build import without_study
from tests.front_door import INSTRUMENTS, STUB, names_by_module
from tests.pythons import finished
from tests.without import ROOT, cells_without

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
NEEDS = [Requirement(line) for line in PROJECT["dependencies"]]
BUILD = "wheel --no-build-isolation --no-deps --no-index --disable-pip-version-check --quiet"
# In the folder of the helpers, and in no wheel.
COURSES = (
    "course/",
    "study/",
    "internals/framework_state.py",
    "safety/learner_names.py",
    "safety/learner_record.py",
    "safety/limits.py",
    "safety/shared_progress.py",
    "safety/state_parts.py",
    "view/scripts/",  # the sources of the bundles
    "view/widgets/bundle/progress_line.",
    "view/widgets/progress_line.",
)
MOST_MODULES = 450  # one job each; far more would be a folder that does not belong in it


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", *BUILD.split(), "--wheel-dir", str(folder), str(ROOT)]
    done = finished(command, timeout=300)
    assert done.returncode == 0, done.stderr
    [built] = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def away(wheel, tmp_path_factory) -> str:
    """The folder that the wheel is unpacked into."""
    folder = tmp_path_factory.mktemp("away")
    with ZipFile(wheel) as packed:
        packed.extractall(folder)
    return str(folder)


def needed(requirements) -> set[str]:
    """Return what is installed for these requirements, and for theirs."""
    found, open_ends = set(), list(requirements)
    while open_ends:
        one = open_ends.pop()
        name = canonicalize_name(one.name)
        if name in found or (one.marker and not one.marker.evaluate({"extra": ""})):
            continue
        found.add(name)
        open_ends += map(Requirement, metadata.requires(name) or ())
    return found


def others() -> list[str]:
    """Return the top modules of all that is installed and not needed."""
    ours = needed(NEEDS)
    homes = metadata.packages_distributions().items()
    return sorted(top for top, names in homes if not ours & {*map(canonicalize_name, names)})


def cells_away(sources: list[str], path: str):
    """Run cells where the wheel and what it needs are all that there is."""
    return cells_without([*others(), "helpers"], sources, path=path)


def test_wheel_has_the_files_of_the_helpers_less_those_of_the_course(wheel):
    files = [path for path in (ROOT / "helpers").rglob("*") if path.is_file()]
    here = {path.relative_to(ROOT / "helpers").as_posix() for path in files}
    here = {name for name in here if not name.startswith(COURSES) and not name.endswith(".pyc")}
    with ZipFile(wheel) as packed:
        names = [name for name in packed.namelist() if ".dist-info/" not in name]
    there = {name.removeprefix("whoruns/") for name in names}
    assert there == here | {"py.typed"}
    assert {Path(name).suffix for name in here} >= {".py", ".js", ".css", ".html", ".c", ".json"}
    assert all((ROOT / "helpers" / name.rstrip("./")).parent.is_dir() for name in COURSES)
    assert sum(name.endswith(".py") for name in there) <= MOST_MODULES


def test_metadata_say_all_but_the_licence(wheel):
    with ZipFile(wheel) as packed:
        [name] = [name for name in packed.namelist() if name.endswith("/METADATA")]
        told = message_from_string(packed.read(name).decode())
    assert (told["Name"], told["Version"]) == ("whoruns", helpers.__version__)
    assert told["Summary"] and told["Keywords"] and len(told.get_all("Classifier")) > 10
    assert told.get_payload() == (ROOT / PROJECT["readme"]).read_text("utf-8")
    assert len(told.get_payload().splitlines()) <= 50, "more than a screen"
    assert {*told.get_all("Provides-Extra")} == {"torch", "tensorflow", "lab"}


def test_public_verbs_work_where_a_project_has_helpers_of_its_own(away, tmp_path):
    (tmp_path / "helpers").mkdir()
    (tmp_path / "helpers" / "__init__.py").write_text("mine = 1")
    for name in ("tests/at_work.py", "tools/instrument_examples.py"):
        copyfile(ROOT / name, tmp_path / Path(name).name)
    source = "import sys, at_work, helpers; bad = at_work.main(sys.argv[1:]) + 1 - helpers.mine"
    env = {name: value for name, value in os.environ.items() if not name.startswith("TF_")}
    command = [sys.executable, "-c", f"{source}; sys.exit(bad)", *MOST_ASKED]
    done = finished(command, cwd=tmp_path, env={**env, "PYTHONPATH": away}, timeout=400)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("changed by the import, or a verb: nothing\n")
    assert len(done.stdout.splitlines()) == 3 + len(MOST_ASKED)


def test_import_changes_nothing_in_a_kernel_either(away):
    cells = [
        "from tests.at_work import state, changed",
        "before = state(); import whoruns; whoruns.show_bytecode(state); changed(before)",
        "import sys; [name for name in sys.modules if name.startswith('helpers')]",
    ]
    *_, changed, hidden = cells_away(cells, away)
    assert "[]" in changed.shown and "[]" in hidden.shown


IMPORTS = """
from pkgutil import walk_packages
for one in walk_packages(whoruns.__path__, "whoruns.", onerror=lambda name: None):
    try:
        if not one.name.endswith("__main__"): __import__(one.name)
    except ModuleNotFoundError as error:
        assert error.name in ("torch", "tensorflow"), one
"""


def test_verbs_are_there_without_a_framework_or_a_lab(away):
    assert {"torch", "tensorflow", "jupyterlab", "nbformat", "pytest"} <= {*others()}
    assert not {"IPython", "numpy"}.intersection(others())
    cells = [
        "import whoruns; print(whoruns.__file__)",
        "for name in whoruns.__all__: getattr(whoruns, name)",
        IMPORTS,
        "whoruns.show_bytecode(lambda x: x + 1)",
        "data, _ = whoruns.watch_stack(lambda x: x + 1, 1)._repr_mimebundle_()\nsorted(data)",
        "assert 'check' not in dir(whoruns); whoruns.check",
    ]
    where, names, modules, listing, picture, course = cells_away(cells, away)
    assert where.shown.startswith(away)
    assert not names.error and not modules.error, names.shown + modules.shown
    assert "BINARY_OP" in listing.shown
    assert "application/vnd.jupyter.widget-view+json" in picture.shown
    assert "check is in the notebooks' course" in course.shown


def test_missing_part_is_one_sentence_with_pips_cure(away):
    lines = ["from whoruns import *", "watch_compile(lambda: 1)", "show_graph(lambda: 1)"]
    told = cells_away(lines, away)[1:]
    for one, name, cure in zip(
        told, ("PyTorch", "TensorFlow"), ('"torch<2.16,>=2.11"', '"tensorflow'), strict=True
    ):
        assert one.error == "MissingPart" and one.shown.count("\n") == 1, one.shown
        assert one.shown.startswith(f"{name} is missing in this Python: run `pip inst")
        assert cure in one.shown and "course.py" not in one.shown


def test_screen_of_the_package_has_versions_verbs_and_what_is_missing(away):
    cells = [
        "import runpy\nfrom whoruns.safety import missing_parts as parts",
        "found = parts.find_installed_version",
        "absent = parts.FRAMEWORKS",
        "parts.find_installed_version = lambda name: '' if name in absent else found(name)",
        "_ = runpy.run_module('whoruns', run_name='__main__')",
    ]
    *_, screen = cells_away(cells, away)
    lines = screen.shown.splitlines()
    assert lines[0].startswith(f"whoruns {helpers.__version__}, Python 3.") and "numpy" in lines[0]
    shown = {line.split()[0]: line for line in lines if line.startswith("  ")}
    assert set(MOST_ASKED) <= set(shown) and len(lines) <= 40
    assert "model.fit" in screen.shown and "`fit`" in (ROOT / PROJECT["readme"]).read_text("utf-8")
    assert max(map(len, lines[:-3])) <= 100 and "Missing:" in lines
    assert "pip install" in shown["torch:"] and "pip install" in shown["tensorflow:"]


def test_stub_of_the_wheel_has_the_verbs_and_no_name_of_study(wheel):
    with ZipFile(wheel) as packed:
        stub = packed.read("whoruns/__init__.pyi").decode()
    assert stub == without_study(STUB.read_text("utf-8")) and "study" not in names_by_module(stub)
    assert sorted(sum(names_by_module(stub).values(), [])) == INSTRUMENTS


def test_a_strict_check_accepts_the_front_door(away):
    pytest.importorskip("mypy")
    files = [Path("whoruns", "__init__.pyi"), *sorted(Path(away, "whoruns", "verbs").glob("*.py"))]
    words = ["--strict", "--follow-imports=silent", "--no-incremental", "--allow-untyped-calls"]
    command = [sys.executable, "-m", "mypy", "--config-file", os.devnull, *words, *map(str, files)]
    done = finished(command, cwd=away)
    assert done.returncode == 0, done.stdout


USE = """\
import whoruns
from whoruns import show_bytecode, watch_recompiles

rows = show_bytecode(len, caches=True).model.rows
kept = watch_recompiles(lambda x: x, dynamic=True)
version: str = whoruns.__version__
print(kept(1), whoruns.show_journey(len, [], ways=True), whoruns.would_trace(len).traces + 1)
whoruns.show_bytecode(len, cashes=True)  # call-arg
whoruns.show_bytecod(len)  # attr-defined
show_bytecode(len, caches="yes")  # arg-type
whoruns.show_names(1)  # arg-type
whoruns.would_trace(len).trace  # attr-defined
whoruns.watch_traces(3)  # arg-type
whoruns.check  # attr-defined
"""


def test_types_are_checked_where_the_wheel_is_installed(wheel, tmp_path):
    pytest.importorskip("mypy")
    venv.create(tmp_path / "env", with_pip=False)
    [python] = [*tmp_path.glob("env/bin/python"), *tmp_path.glob("env/Scripts/python.exe")]
    asked = [str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    place = finished(asked).stdout.strip()
    with ZipFile(wheel) as packed:
        packed.extractall(place)
    (tmp_path / "use.py").write_text(USE)
    words = ["--strict", "--no-incremental", "--no-pretty", "--python-executable", str(python)]
    command = [sys.executable, "-m", "mypy", "--config-file", os.devnull, *words, "use.py"]
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = finished(command, cwd=tmp_path, env=env)
    errors = [line for line in done.stdout.splitlines() if ": error: " in line]
    wrong = [(n, line.partition("  # ")[2]) for n, line in enumerate(USE.splitlines(), 1)]
    expected = [(f"use.py:{n}", f"[{kind}]") for n, kind in wrong if kind]
    assert [(one.partition(": ")[0], one.split()[-1]) for one in errors] == expected, done.stdout
