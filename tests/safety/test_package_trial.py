"""A broken package is named, whatever broke it, and no other; a healthy environment has no fault.

Nothing is broken but in environments of the tests' own.
"""

import json
import os
import py_compile
import random
import re
import shutil
import signal
import subprocess
import sys
import time

import psutil
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from helpers.course import checkup
from helpers.safety import package_files, package_trial
from tests.pythons import OTHERS, finished, found
from tests.safety.package_environments import (
    QUIET,
    Environment,
    RealPackages,
    importing,
    recorded_files,
)

links = pytest.mark.skipif(os.name == "nt", reason="a learner may make no links on Windows")
posix = pytest.mark.skipif(os.name == "nt", reason="signals")
TORCH = "class ones(list):\n    def __init__(self, n): self[:] = [1.0] * n\n"
TORCH += "    def __add__(self, other): return ones.of([one + other for one in self])\n"
TORCH += "    def tolist(self): return list(self)\n"
TORCH += "    @classmethod\n    def of(cls, items):\n"
TORCH += "        made = cls(0); made[:] = items; return made\n"


@pytest.fixture
def environment(tmp_path):
    return Environment(tmp_path / "env")


@pytest.fixture
def real(tmp_path):
    return RealPackages(tmp_path / "env")


# -- healthy ---------------------------------------------------------------------------------------


def test_this_environment_has_no_fault():
    """Every package of requirements.txt is imported, and each framework runs an op."""
    names = [*checkup.read_versions("requirements.txt"), "whoruns"]
    ended = []
    trial = package_trial.try_packages(sys.executable, names, done=ended.append)
    assert (trial.faults, trial.consequences) == ({}, {})
    assert sorted(ended) == sorted(names)


def test_what_a_healthy_distribution_may_have_is_no_fault(environment):
    """A namespace, tests that need more, a program, a shared file, a script that was moved."""
    fails = "raise ImportError"
    environment.install("space", {"shop/space/__init__.py": "", "shop/tests/__init__.py": fails})
    environment.install("tested", {"tested.py": "", "tests/__init__.py": fails, "_own.py": fails})
    environment.install("program", {"../../../bin/program": "#!/old/place\nrun"})
    environment.install("linked", {"__editable___linked.pth": "/somewhere"})
    environment.install("first", {"both.py": "#"})
    environment.install("second", {"both.py": "# longer"})
    environment.install("certified", {"certified.py": "", "certified.pem": "one"})
    environment.install("set", {"set.py": "", "../../../etc/set.json": "{}"})
    (environment.folder / "bin/program").write_text("#!/a/new/place\nrun")
    (environment.folder / "etc/set.json").write_text('{"mine": 1}')
    (environment.site / "certified.pem").write_text("one, and that of a company")
    names = "space tested program linked first second certified set"
    assert environment.faults(*names.split()) == {}
    assert environment.incomplete() == set()


def test_names_are_those_of_requirements_in_any_spelling(environment):
    environment.install("Import_Linter", {"importlinter.py": ""}, version="2.16+cpu")
    for name in ("import-linter", "Import.Linter", "import_linter==2.16"):
        assert environment.faults(name) == {}


def test_a_build_for_another_machine_does_as_well(environment):
    environment.install("tensorflow", {"other.py": ""})
    assert environment.faults("tensorflow-cpu", "tensorflow") == {}
    shutil.rmtree(environment.site / "tensorflow-1.0.dist-info")
    faults = environment.faults("tensorflow-cpu", "tensorflow")
    assert faults == {"tensorflow-cpu": package_trial.NOT_INSTALLED}


def test_a_package_without_a_list_of_files_is_imported(environment):
    """As Linux distributions and older installers leave it, outside an environment of its own."""
    (environment.site / "old.egg-info").mkdir()
    (environment.site / "old.egg-info" / "PKG-INFO").write_text("Name: old\nVersion: 3\n")
    (environment.site / "old.py").write_text(importing())
    assert environment.faults("old==3") == {} and "old" in environment.imports()


# -- files -----------------------------------------------------------------------------------------


NAMES = st.sampled_from(["alpha", "beta-two", "gamma.three", "delta_four"])
PATHS = st.sampled_from(
    ["{0}/__init__.py", "{0}/deep/er.py", "{0}/core.abi3.so", "{0}.py", "../../../share/{0}/x.js"]
)
SIZES = st.integers(1, 3000)
DISTRIBUTIONS = st.dictionaries(
    NAMES, st.dictionaries(PATHS, SIZES, min_size=1), min_size=1, max_size=4
)


@pytest.fixture(scope="module")
def emptied(tmp_path_factory):
    return Environment(tmp_path_factory.mktemp("emptied") / "env")


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(distributions=DISTRIBUTIONS, data=st.data())
def test_a_file_of_any_distribution_removed_or_cut_names_that_one(emptied, distributions, data):
    shutil.rmtree(emptied.site)
    emptied.site.mkdir()
    folders = {
        name: emptied.install(name, {path.format(name): "#" * size for path, size in files.items()})
        for name, files in distributions.items()
    }
    assert emptied.incomplete() == set()
    name = data.draw(st.sampled_from(sorted(folders)))
    info = folders[name].name
    paths = [path.format(name) for path in distributions[name]]
    path = data.draw(st.sampled_from([*paths, f"{info}/METADATA", f"{info}/RECORD"]))
    place = emptied.site / path
    whole = place.read_bytes()
    if data.draw(st.booleans()):
        place.unlink()
    else:
        place.write_bytes(whole[: data.draw(st.integers(0, len(whole) - 1))])
        # a list that ends with a line and has its own cannot be told from a shorter one
        assume(place.name != "RECORD" or not place.read_bytes().endswith(b"\n"))
    assert package_files.find_incomplete_installs(emptied.site) == [folders[name]]
    place.write_bytes(whole)
    assert emptied.incomplete() == set()


@links
def test_a_file_of_any_real_package_removed_or_cut_names_that_one(real):
    files = {}
    for name, path, size in recorded_files(real.site):
        files.setdefault(name, []).append((path, size))
    seed = random.randrange(10**6)
    draw = random.Random(seed)
    damaged = {}
    for name in draw.sample(sorted(files), 40):
        damaged[name], size = draw.choice(files[name])
        if draw.random() < 0.5 or damaged[name].startswith("..") or damaged[name].endswith(".pem"):
            real.remove(damaged[name])
        else:
            real.replace(damaged[name], b"#" * draw.randrange(size))
    assert real.incomplete() == set(damaged), (seed, damaged)
    named = real.faults()
    assert named.keys() == {package_files.normalize_name(name) for name in damaged}, (seed, damaged)
    for name, path in damaged.items():
        assert path in named[package_files.normalize_name(name)]


def cut_bytecode(site):
    """Cut the compiled form of a module, as CPython 3.11 writes it on a full disk."""
    compiled = py_compile.compile(str(site / "p/core.py"))
    os.truncate(compiled, os.path.getsize(compiled) - 3)


DAMAGES = {
    "a compiled file is cut short": cut_bytecode,
    "a file is gone": lambda site: (site / "p/core.py").unlink(),
    "half is gone, and the list of files stays": lambda site: shutil.rmtree(site / "p"),
    "a library is cut short": lambda site: (site / "p/core.py").write_bytes(b"#"),
    "the install did not finish": lambda site: (site / "p-1.0.dist-info/RECORD").unlink(),
    "the list of files is cut short": (
        lambda site: os.truncate(site / "p-1.0.dist-info/RECORD", 30)
    ),
    "the list of files is noise": (
        lambda site: (site / "p-1.0.dist-info/RECORD").write_bytes(b"\xff\0")
    ),
    "nothing is there": (
        lambda site: [shutil.rmtree(site / name) for name in ("p", "p-1.0.dist-info")]
    ),
    "it does not import": lambda site: (site / "p/core.py").write_text("1/"),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_damage_is_named_with_what_it_is(environment, damage, snapshot):
    environment.install("p", {"p/__init__.py": "from . import core", "p/core.py": "##"})
    environment.install("q", {"q.py": ""})
    damage(environment.site)
    faults = environment.faults("p", "q")
    assert faults.keys() == {"p"} and faults["p"] == snapshot


def test_two_versions_in_one_folder_are_a_fault(environment):
    """As an update that was interrupted leaves them."""
    for version in ("1.0", "2.0"):
        environment.install("p", {"p.py": ""}, version=version)
    [(name, fault)] = environment.faults("p").items()
    assert name == "p" and "1.0" in fault and "2.0" in fault


def test_another_version_than_the_pinned_one_is_a_fault(environment):
    environment.install("numpy", {"numpy.py": ""}, version="2.3.0")
    [(name, fault)] = environment.faults("numpy==2.4.6").items()
    assert name == "numpy" and fault.index("2.3.0") < fault.index("2.4.6")


def test_only_the_named_are_looked_at_where_that_is_asked(environment):
    for name in ("p", "q"):
        environment.install(name, {f"{name}.py": ""})
        (environment.site / f"{name}.py").unlink()
    assert environment.faults("p").keys() == {"p", "q"}
    assert environment.faults("p", only_named=True).keys() == {"p"}


# -- imports ---------------------------------------------------------------------------------------


# What a module does -> how its fault ends.
ENDINGS = {
    "import os; os._exit(0)": "(exit code 0)",
    "raise SystemExit(3)": ": SystemExit: 3",
    "raise BaseException": ": BaseException",
    "print('{}'); 1 / 0": ": ZeroDivisionError: division by zero",
}
if os.name == "posix":
    ENDINGS[f"import os; os.kill(os.getpid(), {int(signal.SIGSEGV)})"] = "(SIGSEGV)"


def test_each_import_that_ends_badly_is_that_package_s_own(environment):
    """The others, before and after it, are tried all the same."""
    endings = {}
    for number, (code, ending) in enumerate(ENDINGS.items()):
        environment.install(f"bad{number}", {f"bad{number}.py": importing(code)})
        environment.install(f"good{number}", {f"good{number}.py": importing()})
        endings[f"bad{number}"] = ending
    names = [f"{kind}{number}" for number in range(len(ENDINGS)) for kind in ("good", "bad")]
    ended = []
    faults = environment.faults(*names, done=ended.append)
    assert faults.keys() == endings.keys()
    assert all(faults[name].endswith(ending) for name, ending in endings.items()), faults
    assert sorted(environment.imports()) == sorted(ended) == sorted(names)


def test_an_import_that_hangs_is_ended(environment):
    environment.install("slow", {"slow.py": "import time; time.sleep(10**6)"})
    [(name, fault)] = environment.faults("slow", timeout=1).items()
    assert name == "slow" and fault.endswith("1 s")


def test_frameworks_never_share_a_process(environment):
    environment.install("torch", {"torch.py": importing(TORCH)})
    environment.install("tensorflow-cpu", {"tensorflow.py": importing("1 / 0")})
    for name in ("keras", "numpy", "pandas"):
        environment.install(name, {f"{name}.py": importing()})
    faults = environment.faults("keras", "pandas", "tensorflow", "torch", "numpy")
    assert faults.keys() == {"tensorflow-cpu"}
    process = environment.imports()
    assert process["keras"] == process["tensorflow"] and process["numpy"] == process["pandas"]
    assert len({process["tensorflow"], process["torch"], process["numpy"]}) == 3


def test_a_framework_that_computes_wrong_is_broken(environment):
    environment.install("torch", {"torch.py": TORCH.replace("one + other", "one - other")})
    [(name, fault)] = environment.faults("torch").items()
    assert name == "torch" and fault.endswith("[0.0, 0.0]")


def test_what_fails_because_of_a_broken_package_is_a_consequence(environment):
    environment.install("low", {"low/__init__.py": "import low.more", "low/more.py": ""})
    environment.install("says", {"says.py": "import low"}, requires=["middle>=1"])
    environment.install("middle", {"middle.py": ""}, requires=["low ; python_version > '3'"])
    environment.install("silent", {"silent.py": "import low"})
    environment.install("own", {"own.py": "1 / 0"})
    os.unlink(environment.site / "low/more.py")
    trial = environment.try_packages("says", "silent", "own")
    assert trial.faults.keys() == {"low", "own"}
    assert trial.consequences == {"says": "low", "silent": "low"}
    assert re.search(r"\blow\b", trial.fault("says")) and trial.fault("own") == trial.faults["own"]


def test_of_two_that_require_each_other_none_is_the_consequence_of_the_other(environment):
    environment.install("a", {"a.py": "1 / 0"}, requires=["b"])
    environment.install("b", {"b.py": "1 / 0"}, requires=["a"])
    assert environment.faults("a", "b").keys() == {"a", "b"}


def hanging(environment, starter=None) -> int:
    """Return the process that hangs in an import of `slow`, once it does.

    `starter`: the process that starts it, which must not end before.
    """
    while not environment.log.exists() or "slow" not in environment.imports():
        assert environment.python.exists()
        if starter is not None:
            assert starter.poll() is None, "it ended before the import"
        time.sleep(0.01)
    return int(environment.imports()["slow"])


def test_no_child_is_left_after_an_interrupt(environment):
    environment.install("slow", {"slow.py": importing("import time; time.sleep(10**6)")})
    environment.install("torch", {"torch.py": TORCH})

    def interrupt(name):
        interrupt.child = psutil.Process(hanging(environment))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        environment.faults("torch", "slow", done=interrupt)
    assert not interrupt.child.is_running()


@posix
def test_no_child_outlives_a_starter_that_is_killed(environment):
    environment.install("slow", {"slow.py": importing("import time; time.sleep(10**6)")})
    command = [environment.python, package_trial.__file__, "slow"]
    env = {**QUIET, "LOG": str(environment.log)}
    with subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL) as starter:
        child = psutil.Process(hanging(environment, starter))
        starter.kill()
    child.wait(timeout=60)


# -- by its path, in any Python --------------------------------------------------------------------


@pytest.mark.parametrize("version", OTHERS)
def test_it_runs_by_its_path_in_a_bare_python(version):
    python = found(version)
    if python is None:
        pytest.skip(f"no Python {version} on this machine")
    env = {"PATH": os.defpath, "PYTHONDONTWRITEBYTECODE": "1"}
    done = finished([python, "-S", package_trial.__file__, "no-such-package"], env=env)
    last = json.loads(done.stdout.splitlines()[-1])
    assert last["no-such-package"] == package_trial.NOT_INSTALLED and done.stderr == ""


def test_a_python_that_does_not_start_is_said(tmp_path):
    faults = package_trial.find_faults(tmp_path / "python", ["numpy"])
    assert faults == {"numpy": package_trial.NO_START}


# -- the real ones ---------------------------------------------------------------------------------


@links
def test_the_damages_that_learners_met_are_named(real):
    """Case 9: a removed torch/functional.py, a half-removed ipywidgets; a library cut short."""
    library = next(path for _, path, _ in recorded_files(real.site) if "kiwisolver/_cext" in path)
    real.remove("torch/functional.py")
    real.unfold("ipywidgets/widgets/widget.py")
    shutil.rmtree(real.site / "ipywidgets/widgets")
    real.replace(library, real.unfold(library).read_bytes()[:5000])
    trial = real.try_packages("torch", "ipywidgets", "anywidget", "matplotlib", "numpy==0.1")
    assert trial.faults.keys() == {"torch", "ipywidgets", "kiwisolver", "numpy"}
    assert "torch/functional.py" in trial.faults["torch"]
    assert "ipywidgets/widgets" in trial.faults["ipywidgets"]
    assert trial.consequences == {"anywidget": "ipywidgets", "matplotlib": "kiwisolver"}


@links
def test_noise_in_a_file_of_a_framework_is_found_by_its_import(real):
    place = real.unfold("torch/functional.py")
    size = place.stat().st_size
    real.replace("torch/functional.py", b"\0" * size)  # as a lost power supply leaves it
    assert re.search(r": \w+Error", real.faults("torch")["torch"])
