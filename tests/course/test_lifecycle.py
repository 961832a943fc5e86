"""The life of .venv, with a stand-in for the installer: interrupted at each step, offline, full.

The property: however a start ends, .venv is whole or not there, nothing of the learner's is gone,
and the same command goes on from there to an environment that works.
"""

import errno
import json
import os
import random
import re
import select
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.course import (
    checkout,
    disk_space,
    install_failures,
    installed_packages,
    lifecycle,
    stamp,
    terminal,
    trash,
    virtual_environment,
)
from tests import samples

REPO = Path(__file__).parents[2]
SITE = Path("lib/python3.11/site-packages")
PACKAGES = ("torch", "numpy", "ipywidgets")
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="steps are interrupted in forks")


class StandIn:
    """An installer that writes two files for each package, the list of them last, as real ones."""

    fails_with = ""

    def __init__(self, folder, lock=None):
        self.folder = folder
        self.python = folder / checkout.PYTHON_INSIDE

    def install(self, *words):
        if StandIn.fails_with:
            raise terminal.CommandRefused(StandIn.fails_with)
        site = self.folder / SITE
        site.mkdir(parents=True, exist_ok=True)
        theirs = [word.partition("==")[0] for word in words if "==" in word]
        for name in theirs or PACKAGES:
            (site / f"{name}.py").write_text(release())
            dist_info = site / f"{name}-{release()}.dist-info"
            if not (dist_info / "RECORD").exists():
                dist_info.mkdir(exist_ok=True)
                listed = f"{name}.py", f"{dist_info.name}/RECORD", "../../../bin/jupyter"
                (dist_info / "RECORD").write_text("".join(f"{path},,\n" for path in listed))
        script = self.folder / "bin" / "jupyter"
        script.write_text(f"#!{self.python}\n")
        (self.folder / "bin" / "python3").unlink(missing_ok=True)
        (self.folder / "bin" / "python3").symlink_to("python")


def release():
    """Return which release the requirements ask for."""
    return (checkout.ROOT / "constraints.txt").read_text().strip().partition("==")[2]


def frozen(folder, python=None):
    records = sorted((folder / SITE).glob("*.dist-info/RECORD"))
    return {
        r.parent.name.partition("-")[0]: r.parent.name[:-10].replace("-", "==") for r in records
    }


def faults(python, names, env=None):
    site = python.parents[1] / SITE
    whole = [name for name in PACKAGES if (site / f"{name}.py").is_file()]
    whole = [name for name in whole if (site / f"{name}.py").read_text() == release()]
    return {name: "its file is missing" for name in PACKAGES if name not in whole}


def run_venv(folder, python):
    (folder / "bin").mkdir()
    (folder / "bin" / "python").symlink_to(python)
    (folder / "pyvenv.cfg").write_text(f"command = venv {folder}\n")


@pytest.fixture
def house(tmp_path, monkeypatch):
    """A checkout whose installer is the stand-in, and in which no program is started."""
    root = tmp_path / "Kurs für alle"
    for name in ("pyproject.toml", "requirements.txt", "package", "share"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        copy = shutil.copytree if (REPO / name).is_dir() else shutil.copyfile
        copy(REPO / name, root / name)
    (root / "constraints.txt").write_text("torch==1")
    for name in ("WORK", "VENV", "NEW", "TRASH", "PYTHON"):
        place = root / getattr(checkout, name).relative_to(REPO)
        monkeypatch.setattr(checkout, name, place)
    monkeypatch.setattr(checkout, "ROOT", root)
    version = tuple(sys.version_info[:2])

    def version_of(command):
        return version if os.path.exists(command[0]) else None

    monkeypatch.setattr(checkout, "version_of", version_of)
    monkeypatch.setattr(lifecycle, "Installer", StandIn)
    monkeypatch.setattr(installed_packages, "frozen", frozen)
    monkeypatch.setattr(virtual_environment, "run_venv", run_venv)
    monkeypatch.setattr(virtual_environment, "has_pip", lambda python: True)
    monkeypatch.setattr(virtual_environment, "base_python", lambda: sys.executable)
    monkeypatch.setattr(installed_packages.package_trial, "find_faults", faults)
    monkeypatch.setattr(stamp, "still_works", lambda folder: bool(finished_release(folder)))
    monkeypatch.setattr(StandIn, "fails_with", "")
    monkeypatch.setenv("PIP_FIND_LINKS", "an index, so that 4 GB of disk are enough")
    return root


def finished_release(folder):
    """Return the release of an environment that is whole; "" if it is not, or not there."""
    text = stamp.read_stamp(folder)
    if len(text) != 64 or not (folder / "bin" / "python").exists():
        return ""
    releases = {(folder / SITE / f"{name}.py").read_text() for name in PACKAGES}
    named = (folder / "bin" / "jupyter").read_text()
    assert named == f"#!{checkout.PYTHON}\n", "its programs name the place where it stands"
    return releases.pop() if len(releases) == 1 else ""


def update(house):
    (house / "constraints.txt").write_text("torch==2")


# -- interrupted at each step ----------------------------------------------------------------------


def killed(event):
    os._exit(9)


def pressed(event):
    raise KeyboardInterrupt


def disk_full(event):
    raise OSError(errno.ENOSPC, "No space left on device")


def run_until(step, ending, root):
    """Run set_up in a fork that ends so at this file operation; return whether it came so far.

    Python reports each file operation to an audit hook before it is done.
    """
    process = os.fork()
    if process == 0:
        place, left, writing = str(root), [step], ending is disk_full

        def hook(event, arguments):
            if not arguments or place not in str(arguments[0]):
                return
            if writing and not (event == "os.mkdir" or event == "open" and is_written(arguments)):
                return
            left[0] -= 1
            if left[0] == 0:
                ending(event)

        code = 0
        try:
            with open(os.devnull, "w") as sys.stdout:
                sys.addaudithook(hook)
                lifecycle.set_up()
        except (terminal.CommandRefused, KeyboardInterrupt, OSError):
            code = 1
        except BaseException:
            code = 3
        os._exit(code if left[0] > 0 else code or 2)
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    assert code != 3, f"another error came out at step {step}"
    return code != 0


def is_written(arguments):
    """Tell whether an "open" event is for writing: its mode, or its flags."""
    mode, flags = arguments[1], arguments[2]
    return any(letter in mode for letter in "wax") if isinstance(mode, str) else bool(flags & 3)


@needs_fork
@pytest.mark.parametrize("ending", [killed, pressed, disk_full])
@pytest.mark.parametrize("before", ["nothing", "an old one", "one half made"])
def test_interrupted_at_any_step_nothing_is_lost_and_the_next_start_goes_on(house, before, ending):
    if before != "nothing":
        lifecycle.set_up()
        (checkout.VENV / "thesis.txt").write_text("three years")
        update(house)
    if before == "one half made":
        assert run_until(60, killed, house)
    start = house.with_name("start")
    shutil.copytree(house, start, symlinks=True)
    steps = random.Random(f"{before} {ending.__name__}")
    step = 1
    while True:
        came_so_far = run_until(step, ending, house)
        assert checkout.VENV.exists() == bool(finished_release(checkout.VENV)), f"step {step}"
        if before != "nothing" and not checkout.VENV.exists():
            assert finished_release(checkout.NEW) == "2", f"step {step}: neither is there"
        if before != "nothing":
            [thesis] = house.rglob("thesis.txt")
            assert thesis.read_text() == "three years"
        lifecycle.set_up()
        assert finished_release(checkout.VENV) == release(), f"step {step}"
        assert not checkout.NEW.exists()
        trash.empty_trash()
        if before != "nothing":
            assert (checkout.VENV / "thesis.txt").read_text() == "three years"
        if not came_so_far:
            break
        shutil.rmtree(house)
        shutil.copytree(start, house, symlinks=True)
        step += 1 if samples.WHOLE else steps.randint(3, 15)
    assert step > 10, "the steps are counted"


# -- what decides about an update ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("pyproject.toml", "line-length = 100", "line-length = 99"),
        ("pyproject.toml", "[tool.codespell]", "# a comment\n[tool.codespell]"),
        ("pyproject.toml", "Development Status :: 4", "Development Status :: 5"),
        ("requirements.txt", "# the classroom", "# the class room"),
        ("requirements.txt", "\n# before a commit", ""),
    ],
)
def test_what_installs_nothing_else_updates_nothing(house, capsys, file, old, new):
    lifecycle.set_up()
    capsys.readouterr()
    StandIn.fails_with = "No network"
    text = (house / file).read_text("utf-8")
    assert old in text
    (house / file).write_text(text.replace(old, new), "utf-8")
    lifecycle.set_up()
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("pyproject.toml", "networkx>=3.2", "networkx>=3.3"),
        ("pyproject.toml", "hatchling==1.33.0", "hatchling==1.34.0"),
        ("pyproject.toml", 'dev-mode-dirs = ["."]', 'dev-mode-dirs = ["helpers"]'),
        ("requirements.txt", "numpy~=2.4.0", "numpy~=2.5.0"),
        ("constraints.txt", "torch==1", "torch==2"),
        ("package/build.py", "shared_data", "shared_files"),
        ("share/etc/jupyter/jupyter_nbconvert_config.json", "{", "{ "),
    ],
)
def test_what_an_install_depends_on_updates(house, file, old, new):
    lifecycle.set_up()
    text = (house / file).read_text("utf-8")
    assert old in text
    (house / file).write_text(text.replace(old, new, 1), "utf-8")
    assert not stamp.is_current(checkout.VENV)
    lifecycle.set_up()
    assert stamp.is_current(checkout.VENV)


def test_an_environment_that_was_moved_is_another(house, monkeypatch):
    before = stamp.fingerprint((3, 11))
    moved = shutil.move(house, house.with_name("moved"))
    monkeypatch.setattr(checkout, "ROOT", Path(moved))
    assert stamp.fingerprint((3, 11)) != before


# -- an update that fails, a repair, somebody else's folder ----------------------------------------


def test_an_update_that_fails_leaves_the_old_one_and_says_so(house, capsys):
    lifecycle.set_up()
    update(house)
    StandIn.fails_with = install_failures.NO_NETWORK
    lifecycle.set_up()
    said = capsys.readouterr().out
    assert install_failures.NO_NETWORK in said
    assert finished_release(checkout.VENV) == "1"
    StandIn.fails_with = ""
    lifecycle.set_up()
    assert finished_release(checkout.VENV) == "2"


def test_without_an_old_one_the_reason_is_the_refusal(house, refused):
    StandIn.fails_with = install_failures.NO_NETWORK
    refused(terminal.CommandRefused, "No network", lifecycle.set_up)
    assert not checkout.VENV.exists()


def test_a_full_disk_is_given_its_space_back(house, refused):
    StandIn.fails_with = terminal.DISK_FULL
    refused(terminal.CommandRefused, "disk is full", lifecycle.set_up)
    assert not checkout.NEW.exists() and not checkout.TRASH.exists()


def test_setup_finds_a_broken_package_and_repairs_it(house, capsys):
    lifecycle.set_up()
    lifecycle.set_up(repair=True)
    assert "torch" not in capsys.readouterr().out
    (checkout.VENV / SITE / "torch.py").unlink()
    lifecycle.set_up(repair=True)
    assert "torch" in capsys.readouterr().out
    assert finished_release(checkout.VENV) == "1"


def test_a_repair_without_a_network_says_that_it_did_not_come_about(house, refused):
    lifecycle.set_up()
    (checkout.VENV / SITE / "torch.py").unlink()
    StandIn.fails_with = install_failures.NO_NETWORK
    refused(terminal.CommandRefused, "No network", lifecycle.set_up, repair=True)
    assert (checkout.VENV / SITE / "numpy.py").exists()


def test_what_the_learner_installed_is_installed_again(house, capsys):
    lifecycle.set_up()
    give_cowsay()
    update(house)
    lifecycle.set_up()
    assert "cowsay" in capsys.readouterr().out
    assert "cowsay" in frozen(checkout.VENV)
    known = json.loads((checkout.VENV / installed_packages.PACKAGES).read_text())
    assert known == sorted(PACKAGES)


def give_cowsay():
    site = checkout.VENV / SITE
    (site / "cowsay.py").touch()
    (site / "cowsay-6.1.dist-info").mkdir()
    (site / "cowsay-6.1.dist-info" / "RECORD").write_text("cowsay.py,,\n")


def test_an_update_that_cannot_bring_the_learners_packages_waits(house, monkeypatch, capsys):
    lifecycle.set_up()
    give_cowsay()
    update(house)
    install = StandIn.install

    def without_a_network(self, *words):
        if "cowsay==6.1" in words:
            raise terminal.CommandRefused(install_failures.NO_NETWORK)
        install(self, *words)

    monkeypatch.setattr(StandIn, "install", without_a_network)
    lifecycle.set_up()
    assert install_failures.NO_NETWORK in capsys.readouterr().out
    assert finished_release(checkout.VENV) == "1" and "cowsay" in frozen(checkout.VENV)
    monkeypatch.setattr(StandIn, "install", install)
    lifecycle.set_up()
    assert finished_release(checkout.VENV) == "2" and "cowsay" in frozen(checkout.VENV)


def test_packages_of_the_learner_outlive_the_python_of_the_environment(house, capsys):
    lifecycle.set_up()
    give_cowsay()
    (checkout.VENV / "bin" / "python").unlink()
    lifecycle.set_up()
    assert "cowsay" in capsys.readouterr().out


OWN = ["thesis.txt", "bin/my_script", f"{SITE}/my_module.py", "share/jupyter/kernels/mine/k.json"]


def test_own_files_anywhere_in_the_environment_are_kept(house, capsys):
    lifecycle.set_up()
    for name in OWN:
        (checkout.VENV / name).parent.mkdir(parents=True, exist_ok=True)
        (checkout.VENV / name).write_text("three years")
    update(house)
    lifecycle.set_up()
    assert [(checkout.VENV / name).read_text() for name in OWN] == ["three years"] * len(OWN)
    assert (checkout.VENV / SITE / "torch.py").read_text() == "2"
    said = capsys.readouterr().out
    assert sum(name in said for name in OWN) == min(trash.SHOWN, len(OWN))


PIP_FREEZE = """\
numpy==2.4.6
# Editable install with no version control (whoruns==0.1.0)
-e /elsewhere/course
# Editable install with no version control (mine==1.0)
-e /home/me/mine
-e git+https://example.org/a@0123#egg=other_one&subdirectory=b
direct @ file:///wheels/direct-1.whl
"""


def test_each_line_of_pip_freeze_is_read_and_a_course_is_nobodys_package(monkeypatch):
    monkeypatch.setattr(checkout, "ask", lambda command: PIP_FREEZE)
    assert installed_packages.frozen(Path("folder")) == {
        "numpy": "numpy==2.4.6",
        "mine": "-e /home/me/mine",
        "other-one": "-e git+https://example.org/a@0123#egg=other_one&subdirectory=b",
        "direct": "direct @ file:///wheels/direct-1.whl",
    }


def test_a_request_to_end_while_packages_are_tried_is_as_ctrl_c(house, monkeypatch):
    monkeypatch.setattr(
        installed_packages.package_trial,
        "find_faults",
        lambda *a, **k: os.kill(os.getpid(), signal.SIGTERM),
    )
    with pytest.raises(KeyboardInterrupt):
        lifecycle.set_up()
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


@pytest.mark.parametrize("name", ["VENV", "NEW"])
@pytest.mark.parametrize("kind", ["folder", "file", "link"])
def test_what_the_course_did_not_make_stays(house, refused, name, kind):
    place = getattr(checkout, name)
    if kind == "folder":
        place.mkdir()
        (place / "thesis.txt").write_text("three years")
    elif kind == "file":
        place.write_text("three years")
    else:
        elsewhere = house.with_name("elsewhere")
        elsewhere.mkdir()
        place.symlink_to(elsewhere)
    words = rf"{re.escape(place.name)}.*{'link' if kind == 'link' else 'made'}"
    refused(terminal.CommandRefused, words, lifecycle.set_up)
    assert os.path.lexists(place)
    assert kind != "folder" or (place / "thesis.txt").read_text() == "three years"


def test_a_full_disk_is_refused_before_the_install(house, monkeypatch, refused):
    usage = shutil.disk_usage(REPO)._replace(free=2 * 10**9)
    monkeypatch.setattr(disk_space.shutil, "disk_usage", lambda path: usage)
    refused(terminal.CommandRefused, r"2\.0 GB.* 4 GB;", lifecycle.set_up)
    monkeypatch.setattr(disk_space, "cpu_build_offered", lambda: False)
    refused(terminal.CommandRefused, r" 9 GB .*4 GB", lifecycle.set_up)


WAITING = """
import sys, time
from pathlib import Path
sys.path.insert(0, {repo!r})
from helpers.course import checkout, install_lock
checkout.ROOT, checkout.VENV = Path({root!r}), Path({root!r}) / ".venv"
with install_lock.installing_alone():
    print("alone", flush=True)
    sys.stdin.readline()
print("done", flush=True)
"""


def test_of_two_starts_the_second_waits_and_says_so(house):
    code = WAITING.format(repo=str(REPO), root=str(house))
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    first, second = (subprocess.Popen([sys.executable, "-c", code], **pipes) for _ in range(2))
    with first, second:
        ready, _, _ = select.select([first.stdout, second.stdout], [], [], 60)
        while len(ready) < 2:
            ready, _, _ = select.select([first.stdout, second.stdout], [], [], 60)
        said = {process: process.stdout.readline() for process in (first, second)}
        assert sorted(said.values()) == [
            b"Another course.py is installing here, so this one waits for it.\n",
            b"alone\n",
        ]
        holder = first if said[first] == b"alone\n" else second
        waiting = second if holder is first else first
        assert holder.communicate(b"\n", timeout=60)[0] == b"done\n"
        assert waiting.communicate(b"\n", timeout=60)[0] == b"alone\ndone\n"
