"""`hub/try.py serve` keeps what learners did, whatever ends it; `forget` alone removes it.

JupyterHub is a stand-in here that sleeps; the last test has a real one.
"""

import asyncio
import os
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from hub.trial import environment
from hub.trial.home import DEFAULT, MARKER
from hub.trial.server import processes_in
from hub.trial.upstream import Upstream

pytestmark = pytest.mark.skipif(os.name != "posix", reason="JupyterHub runs on Linux and macOS")

ROOT = Path(__file__).parents[2]
STAND_IN = """
import runpy, signal, sys, types
signal.signal(signal.SIGINT, signal.default_int_handler)  # whatever the shell of the tests ignores
signal.signal(signal.SIGHUP, signal.SIG_DFL)
sys.path.insert(0, {root!r})
from hub.trial import environment, server
environment.missing = server.missing = lambda: ""
sleeps = [sys.executable, "-c", {program!r}]
server.Upstream = lambda folder: types.SimpleNamespace(url="")
server.Hub._command = lambda hub: sleeps
server.Hub.answers = lambda hub: {answers}
sys.argv = ["hub/try.py", *{words!r}]
runpy.run_path({script!r}, run_name="__main__")
"""
SLEEPS = "import time; time.sleep(600)"
SECONDS = 120


def start(*words: str, program=SLEEPS, answers="hub.runs()") -> subprocess.Popen:
    """Start hub/try.py with a program in place of JupyterHub, in a group of its own."""
    script = str(ROOT / "hub/try.py")
    code = STAND_IN.format(
        root=str(ROOT), program=program, answers=answers, words=words, script=script
    )
    env = {**os.environ, "COURSE_PYTHON": sys.executable}
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [sys.executable, "-c", code],
        env=env,
        stdout=pipe,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def run(*words: str, **more) -> tuple[int, str]:
    """Run it to its end; return its exit code and what it said."""
    process = start(*words, **more)
    said, _ = process.communicate(timeout=SECONDS)
    return process.returncode, said


def read_until(process, words: str) -> str:
    """Return the first line with these words."""
    for line in process.stdout:
        if words in line:
            return line
    raise AssertionError(f"it ended without {words!r}")


@pytest.fixture
def folder(tmp_path):
    """A place for learners in which, at the end, no process of a hub lives."""
    yield tmp_path / "learners"
    assert processes_in(tmp_path / "learners") == []


def learn(folder) -> Path:
    """Write a file as a learner; return its path."""
    notebook = folder / "homes/ada/course/work/00.ipynb"
    notebook.parent.mkdir(parents=True)
    notebook.write_bytes(b"what Ada wrote")
    return notebook


def living_hub(folder):
    """Return the one process of the hub; it is known as such once it has begun its program."""
    for _ in range(SECONDS * 10):
        found = processes_in(folder)
        if found:
            break
        time.sleep(0.1)
    [hub] = found
    return hub


def kill_hub(process, folder):
    living_hub(folder).kill()


def press_often(process):
    while process.poll() is None:
        process.send_signal(signal.SIGINT)
        time.sleep(0.02)


ENDS = {
    "Ctrl-C": lambda process, folder: os.killpg(process.pid, signal.SIGINT),
    "Ctrl-C for it alone": lambda process, folder: process.send_signal(signal.SIGINT),
    "Ctrl-C again and again": lambda process, folder: press_often(process),
    "SIGTERM": lambda process, folder: process.send_signal(signal.SIGTERM),
    "SIGHUP": lambda process, folder: process.send_signal(signal.SIGHUP),
    "the hub dies": kill_hub,
    "SIGKILL": lambda process, folder: process.kill(),
}


@pytest.mark.parametrize("end", ENDS)
def test_whatever_ends_it_the_work_stays_and_the_next_one_goes_on(folder, end):
    process = start("serve", "--in", str(folder))
    assert str(folder) in read_until(process, "What learners do is kept in")
    password = read_until(process, "password").partition("password ")[2]
    notebook = learn(folder)
    ENDS[end](process, folder)
    said, _ = process.communicate(timeout=SECONDS)
    assert notebook.read_bytes() == b"what Ada wrote"
    if end != "SIGKILL":  # which leaves nobody to say it
        kept = f"What learners did is kept in {folder}: `python3 hub/try.py serve --in {folder}`"
        assert said.splitlines()[-1].startswith(kept) and "forget" in said
        assert processes_in(folder) == []
    assert process.returncode == {"the hub dies": 1, "SIGKILL": -signal.SIGKILL}.get(end, 0)
    again = start("serve", "--in", str(folder))
    assert read_until(again, "password").partition("password ")[2] == password
    living_hub(folder)  # of the one before, also of one that was killed, nothing is left
    again.send_signal(signal.SIGINT)
    again.communicate(timeout=SECONDS)
    assert notebook.read_bytes() == b"what Ada wrote"


def test_a_hub_that_does_not_start_or_is_interrupted_meanwhile_leaves_the_work(folder):
    code, said = run(
        "serve", "--in", str(folder), program="raise SystemExit('no hub')", answers="False"
    )
    assert code == 1 and "no hub" in said and f"is kept in {folder}" in said.splitlines()[-1]
    notebook = learn(folder)
    process = start("serve", "--in", str(folder), answers="print('asked', flush=True)")
    read_until(process, "asked")
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=SECONDS)
    assert f"is kept in {folder}" in said.splitlines()[-1] and "Traceback" not in said
    assert notebook.exists() and processes_in(folder) == []


def test_a_second_hub_in_the_same_folder_is_refused_and_so_is_its_removal(folder):
    process = start("serve", "--in", str(folder))
    read_until(process, "password")
    notebook = learn(folder)
    for word in ("serve", "forget"):
        code, said = run(word, "--in", str(folder))
        assert (code, said) == (2, f"hub/try.py: a hub already runs in {folder}: end it first\n")
    assert notebook.exists() and living_hub(folder)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=SECONDS)


def test_only_forget_removes_it_and_a_hub_that_was_killed_with_it(folder):
    process = start("serve", "--in", str(folder))
    read_until(process, "password")
    learn(folder)
    process.kill()
    process.communicate(timeout=SECONDS)
    code, said = run("forget", "--in", str(folder))
    assert (code, said) == (0, f"{folder} is removed, with all that learners did there.\n")
    assert not folder.exists()
    code, said = run("forget", "--in", str(folder))
    assert (code, said) == (0, f"{folder} does not exist, so nothing is removed.\n")


def foreign(folder):
    folder.mkdir()
    (folder / "precious.txt").write_text("mine")


def link(folder):
    foreign(folder.with_name("elsewhere"))
    folder.symlink_to(folder.with_name("elsewhere"))


def file(folder):
    folder.write_text("mine")


def other_marker(folder):
    foreign(folder)
    (folder / MARKER).write_text("mine")


@pytest.mark.parametrize("word", ["serve", "forget"])
@pytest.mark.parametrize("make", [foreign, link, file, other_marker])
def test_what_the_course_did_not_make_is_left_alone_in_one_sentence(folder, make, word):
    make(folder)
    before = {path: path.is_file() and path.read_bytes() for path in folder.parent.rglob("*")}
    code, said = run(word, "--in", str(folder))
    assert code == 2
    assert re.fullmatch(rf"hub/try.py: {re.escape(str(folder))} is left alone, because .*\n", said)
    assert {p: p.is_file() and p.read_bytes() for p in folder.parent.rglob("*")} == before


def test_a_folder_in_a_missing_one_is_refused(folder):
    code, said = run("serve", "--in", str(folder / "deep"))
    assert code == 2 and said.startswith(f"hub/try.py: {folder} is not a folder")


def test_the_default_folder_is_ignored_by_git():
    ignored = (ROOT / ".gitignore").read_text("utf-8").splitlines()
    assert f"/{DEFAULT.relative_to(ROOT).as_posix()}/" in ignored


def test_a_repository_that_was_there_has_a_commit_more_and_loses_none(tmp_path):
    def messages():
        words = ["git", "log", "--format=%s"]
        return subprocess.check_output(words, cwd=tmp_path, text=True).splitlines()

    Upstream(tmp_path)
    assert messages() == ["The course"]
    (tmp_path / "README.md").write_text("The teacher changed this.")
    (tmp_path / "more.txt").touch()
    for _ in range(2):  # the second time there is nothing to commit
        Upstream(tmp_path)
        assert messages() == ["The course", "What was changed here", "The course"]
        assert (tmp_path / "README.md").read_bytes() == (ROOT / "README.md").read_bytes()
        assert not (tmp_path / "more.txt").exists()


# -- a real hub ------------------------------------------------------------------------------------


@pytest.mark.long
def test_a_learner_of_a_real_hub_finds_the_work_again(folder):
    if why := environment.missing():
        pytest.skip(f"no hub to try ({why})")
    from hub.trial.learner import Learner

    class Served:
        """What a learner needs of a hub that another process serves."""

        def __init__(self):
            words = [sys.executable, str(ROOT / "hub/try.py"), "serve", "--in", str(folder)]
            self.process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
            line = read_until(self.process, "password")
            self.url, self.password = re.match(r"(\S+) .* password (\w+);", line).groups()

        def end(self) -> str:
            self.process.send_signal(signal.SIGINT)
            return self.process.communicate(timeout=SECONDS)[0]

    async def visit(hub, chapter, source=None):
        learner = Learner(hub, "ada")
        await learner.log_in()
        await learner.enter()
        notebook = await learner.read(chapter)
        if source is not None:
            notebook.cells[0].source = source
            await learner.save(chapter, notebook)
        await learner.close()
        return notebook.cells[0].source

    def apart(coroutine):
        with ThreadPoolExecutor(1) as thread:
            return thread.submit(asyncio.run, coroutine).result()

    hub, chapter = Served(), "00_start_here.ipynb"
    try:
        apart(visit(hub, chapter, "what Ada wrote"))
    finally:
        assert f"is kept in {folder}" in hub.end()
    again = Served()
    try:
        assert again.password == hub.password
        assert apart(visit(again, chapter)) == "what Ada wrote"
    finally:
        again.end()
