"""A folder -> JupyterHub and its proxy on loopback, and an end to whatever they start."""

import os
import secrets
import signal
import socket
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from hub.trial.environment import HUB, VENV, course_python, missing
from hub.trial.environment import Missing as Missing
from hub.trial.upstream import Upstream

START_SECONDS = 180
ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)  # how a hub is told to end
HOMES = "homes"  # of the learners
# What a hub knows of its own run: process numbers that may be those of others by the next one.
RUN = ("jupyterhub.sqlite", "proxy.pid")


class Hub:
    """One hub with ports, password and learners of its own; it writes only in `folder`.

    As a context it is started, and at the end every process of it is ended, each by its id. In a
    folder that a hub has used before, the learners and their password are the same; each has to log
    in again, and their servers start anew.
    """

    def __init__(self, folder: Path):
        if why := missing():
            raise Missing(why)
        self.folder = folder
        self.password = _keep_secret(folder / "password", secrets.token_hex(8))
        self.ports = _free_ports(3)
        end_processes(folder)  # of a hub that was killed here
        for name in RUN:
            (folder / name).unlink(missing_ok=True)
        for name in ("tmp", HOMES, "upstream"):
            (folder / name).mkdir(exist_ok=True)
        self.upstream = Upstream(folder / "upstream")
        self._process = None

    def __enter__(self) -> "Hub":
        self.start()
        return self

    def __exit__(self, *error) -> None:
        self.end()

    @property
    def url(self) -> str:
        """Return scheme, host and port of what learners open."""
        return f"http://127.0.0.1:{self.ports[0]}"

    @property
    def log(self) -> str:
        """Return what the hub, the proxy and the learners' servers have logged."""
        return (self.folder / "hub.log").read_text("utf-8", "replace")

    def start(self) -> None:
        """Start hub and proxy and wait until they answer; RuntimeError holds the log's end.

        Where that fails or is interrupted, nothing of them runs on.
        """
        try:
            with (self.folder / "hub.log").open("a") as log:
                self._process = psutil.Popen(
                    self._command(),
                    cwd=self.folder,
                    env=self._variables(),
                    stdout=log,
                    stderr=log,
                )
            self._wait_for_answer()
        except BaseException:
            self.end()
            raise

    def _command(self) -> list[str]:
        config = HUB / "jupyterhub_config.py"
        return [str(VENV / "bin/python"), "-m", "jupyterhub", "--config", str(config)]

    def _wait_for_answer(self) -> None:
        until = time.monotonic() + START_SECONDS
        while not self.answers():
            if not self.runs() or time.monotonic() > until:
                raise RuntimeError(f"JupyterHub did not start:\n{self.log[-2000:]}")
            time.sleep(0.25)

    def runs(self) -> bool:
        """Return whether the hub's process lives."""
        return self._process is not None and self._process.poll() is None

    def wait(self) -> None:
        """Wait until the hub ends."""
        self._process.wait()

    def answers(self) -> bool:
        """Return whether the hub answers through the proxy."""
        try:
            with urllib.request.urlopen(f"{self.url}/hub/health", timeout=2) as answer:
                return answer.status == 200
        except (OSError, urllib.error.HTTPError):
            return False

    def home(self, name: str) -> Path:
        """Return a learner's home folder."""
        return self.folder / HOMES / name

    def processes(self) -> list[psutil.Process]:
        """Return every process of this hub that lives, its own first, found by the folder."""
        return processes_in(self.folder)

    def processes_of(self, name: str) -> list[psutil.Process]:
        """Return a learner's server and its kernels, the server first."""
        ours = [one for one in self.processes() if _variable(one, "JUPYTERHUB_USER") == name]
        return sorted(ours, key=lambda one: one.create_time())

    def own_processes(self) -> dict[str, psutil.Process]:
        """Return "hub" and "proxy" -> their processes."""
        children = self._process.children() if self.runs() else []
        proxy = [one for one in children if _variable(one, "CONFIGPROXY_AUTH_TOKEN") is not None]
        return {"hub": self._process, **({"proxy": proxy[0]} if proxy else {})}

    def kill_hub(self) -> None:
        """Kill only the hub, without warning it; the proxy and the servers keep running."""
        self._process.kill()
        self._process.wait()

    def end(self) -> None:
        """End every process of this hub: asked first, then killed. No signal interrupts that."""
        with _undisturbed():
            end_processes(self.folder)
        self._process = None

    def _variables(self) -> dict[str, str]:
        path = f"{HUB / 'node_modules/.bin'}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
        # a hub that comes back knows its proxy
        token = _keep_secret(self.folder / "proxy_token", secrets.token_hex(32))
        return {
            **{key: os.environ[key] for key in ("LANG", "LC_ALL") if key in os.environ},
            "PATH": path,
            "HOME": str(self.folder),
            "TMPDIR": str(self.folder / "tmp"),
            "CONFIGPROXY_AUTH_TOKEN": token,
            "COURSE_HUB_HOME": str(self.folder),
            "COURSE_HUB_PORTS": " ".join(map(str, self.ports)),
            "COURSE_HUB_PASSWORD": self.password,
            "COURSE_REPO": self.upstream.url,
            "COURSE_PYTHON": str(course_python()),
        }


def processes_in(folder: Path) -> list[psutil.Process]:
    """Return every process that lives of a hub in this folder, the oldest first."""
    return [
        one
        for one in psutil.process_iter()
        if _variable(one, "COURSE_HUB_HOME", "") == str(folder)
        or _variable(one, "TMPDIR", "") == str(folder / "tmp")
    ]


def end_processes(folder: Path) -> None:
    """End every process of a hub in this folder: asked first, then killed."""
    for ask in (psutil.Process.terminate, psutil.Process.kill):
        living = processes_in(folder)
        for one in living:
            try:
                ask(one)
            except psutil.NoSuchProcess:
                continue
        psutil.wait_procs(living, timeout=10)


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Ignore what would interrupt the block; in another thread than the main one nothing does."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {one: signal.signal(one, signal.SIG_IGN) for one in ENDINGS}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


def _keep_secret(path: Path, fresh: str) -> str:
    """Return what the file has; a new one, for this user alone, has `fresh`."""
    before = path.read_text("utf-8") if path.exists() else ""
    if not before:  # or its writer was killed
        with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
            file.write(fresh)
    return before or fresh


def _variable(process: psutil.Process, name: str, default=None):
    try:
        return process.environ().get(name, default)
    except psutil.Error:
        return default


def _free_ports(count: int) -> list[int]:
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in held]
    for one in held:
        one.close()
    return ports
