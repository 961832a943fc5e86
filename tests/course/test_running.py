"""A second `lab` finds the JupyterLab that runs on work/, says its address and opens it."""

import json
import os
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from helpers.course import filling, running, work
from tests.course.learners import cell, notebook

TOKEN = "a token"
START = "00_start_here.ipynb"


@pytest.fixture
def lab(course, monkeypatch, tmp_path, capsys):
    """Return a function: type `course.py lab`; return exit code, what it said, what it opened."""
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "runtime"))
    (tmp_path / "runtime").mkdir()
    (course.ROOT / "notebooks" / START).write_bytes(notebook(cell("x = 1")))
    opened = []
    monkeypatch.setattr(running.webbrowser, "open", opened.append)
    monkeypatch.setattr(course, "hand_over", lambda command, variables: "started")

    def type_lab(*words):
        opened.clear()
        return work.lab(list(words)), capsys.readouterr().out, opened[:]

    filling.update_work_folder()
    return type_lab


@pytest.fixture
def server(course, lab, tmp_path):
    """Start a server on a folder, as JupyterLab does; return what Jupyter notes of it."""
    started = []

    def start(folder):
        command = [sys.executable, "-m", "jupyter_server", "--allow-root", "--no-browser"]
        command += [f"--ServerApp.root_dir={folder}", f"--IdentityProvider.token={TOKEN}"]
        command += ["--ServerApp.port=0", "--ServerApp.jpserver_extensions={}"]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        process = subprocess.Popen(command, env=os.environ, cwd=tmp_path, **quiet)
        started.append(process)
        info = tmp_path / "runtime" / f"jpserver-{process.pid}.json"
        for _ in range(600):
            if info.exists() and running._answers(noted := json.loads(info.read_text() or "{}")):
                return noted
            assert process.poll() is None
            time.sleep(0.1)
        raise AssertionError("the server does not answer")

    yield start
    for process in started:
        process.kill()
        process.wait()


def test_a_second_start_finds_the_first_and_opens_it(course, lab, server):
    assert lab()[0] == "started"
    noted = server(course.WORK)
    code, said, [page] = lab()
    address = f"{noted['url']}lab/tree/{START}?token=a+token"
    assert code == 0 and said.count(address) == 1 and "Starting JupyterLab" not in said
    assert page.startswith("file:") and page.endswith(f"jpserver-{noted['pid']}-open.html")
    with urllib.request.urlopen(f"{noted['url']}api/status?token=a+token", timeout=30) as answer:
        assert answer.status == 200
    code, said, opened = lab("--no-browser", "--port", "8899")
    assert (code, opened) == (0, []) and address in said
    assert "--port 8899" in said
    assert work.RELOAD not in said
    newer = notebook(cell("x = 2"))
    (course.ROOT / "notebooks" / START).write_bytes(newer)
    assert work.RELOAD in lab()[1] and (course.WORK / START).read_bytes() == newer
    for word in running.ASKS:
        assert lab(word)[0] == "started"


def test_a_server_on_another_folder_is_another(course, lab, server, tmp_path):
    (tmp_path / "other").mkdir()
    server(tmp_path / "other")
    assert lab()[0] == "started"


@pytest.mark.parametrize(
    "noted",
    [
        {"pid": 2**22 + 1},  # its process is gone
        {"pid": os.getpid()},  # nobody answers at its address
        {"pid": os.getpid(), "url": "http+unix://x"},
        {"pid": os.getpid(), "url": 3},
        {"pid": os.getpid(), "root_dir": None},
        [],
        "{",
        b"\xff\0",
    ],
)
def test_what_jupyter_notes_of_a_server_that_is_gone_is_passed_over(course, lab, tmp_path, noted):
    if isinstance(noted, dict):
        where = {"url": "http://127.0.0.1:9/", "root_dir": str(course.WORK), "token": "t"}
        noted = {**where, **noted}
    data = noted if isinstance(noted, bytes) else json.dumps(noted).encode()
    Path(tmp_path / "runtime" / "jpserver-1.json").write_bytes(data)
    code, said, opened = lab()
    assert (code, opened) == ("started", []) and "Starting JupyterLab" in said


def test_where_no_server_was_noted_jupyters_list_is_not_imported(course, lab, monkeypatch):
    monkeypatch.setitem(sys.modules, "jupyter_server.serverapp", None)
    assert running.server_on(course.WORK) is None
