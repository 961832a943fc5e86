"""A folder of notebooks -> a running JupyterLab of its own: own home, own settings, own trust."""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import nbformat
from nbformat.sign import NotebookNotary

ROOT = Path(__file__).parents[2]
TOKEN = "a-token-for-tests"
START_SECONDS = 90
SETTINGS = ROOT / "share/etc/jupyter/labconfig/default_setting_overrides.json"
# Cells out of sight would have no outputs to look at.
RENDER_ALL = {"@jupyterlab/notebook-extension:tracker": {"windowingMode": "none"}}


class LabServer:
    """One JupyterLab on a free port of this machine. `folder` is what it serves."""

    def __init__(self, home: Path):
        self.home, self.folder = home, home / "served"
        self.folder.mkdir(parents=True)
        self.env = _environment(home)
        self._process = None
        self.port = 0

    @property
    def origin(self) -> str:
        """Return scheme, host and port."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start the server and wait until it answers; RuntimeError holds the end of its log."""
        _write_settings(self.home)
        self.port = _free_port()
        log = self.home / "lab.log"
        with log.open("w") as out:
            self._process = subprocess.Popen(
                self._command(), env=self.env, cwd=self.folder, stdout=out, stderr=out
            )
        deadline = time.monotonic() + START_SECONDS
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                raise RuntimeError(f"JupyterLab did not start:\n{log.read_text()[-2000:]}")
            time.sleep(0.2)

    def stop(self) -> None:
        """End the server and, with it, its kernels."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait(30)

    def url(self, name: str) -> str:
        """Return the address of one notebook in a Lab with an empty workspace."""
        return f"{self.origin}/lab/tree/{name}?token={TOKEN}&reset"

    def trust(self, *names: str) -> None:
        """Sign notebooks of the folder, as `jupyter trust` does, without a process for it."""
        notary = NotebookNotary(data_dir=self.env["JUPYTER_DATA_DIR"])
        for name in names:
            notary.sign(nbformat.read(self.folder / name, as_version=4))
        notary.store.close()

    def execute(self, name: str) -> None:
        """Run a notebook of the folder in place, without a browser."""
        command = [sys.executable, "-m", "jupyter", "execute", "--inplace", name]
        subprocess.run(command, env=self.env, cwd=self.folder, check=True)

    def end_kernels(self) -> None:
        """End every session and its kernel, as closing the lid overnight would."""
        for session in json.loads(self._ask("/api/sessions")):
            self._ask(f"/api/sessions/{session['id']}", "DELETE")

    def _ask(self, path: str, method: str = "GET") -> bytes:
        headers = {"Authorization": f"token {TOKEN}"}
        request = urllib.request.Request(self.origin + path, method=method, headers=headers)
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.read()

    def _answers(self) -> bool:
        try:
            return bool(self._ask("/api/status"))
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            return False

    def _command(self) -> list[str]:
        options = f"""--no-browser --ServerApp.port={self.port} --ServerApp.port_retries=0
            --ServerApp.root_dir={self.folder} --IdentityProvider.token={TOKEN}
            --LabApp.expose_app_in_browser=True --LabApp.extension_manager=readonly"""
        as_root = hasattr(os, "geteuid") and os.geteuid() == 0
        return [sys.executable, "-m", "jupyterlab", *options.split(), *["--allow-root"] * as_root]


def _environment(home: Path) -> dict[str, str]:
    env = {k: v for k, v in os.environ.items() if not k.startswith(("JUPYTER", "PYTEST_", "IPY"))}
    env["PYTHONPATH"] = os.pathsep.join([str(ROOT), *filter(None, [env.get("PYTHONPATH")])])
    env |= {"HOME": str(home), "USERPROFILE": str(home), "IPYTHONDIR": str(home / "ipython")}
    for name in ("CONFIG_DIR", "DATA_DIR", "RUNTIME_DIR"):
        env[f"JUPYTER_{name}"] = str(home / name.partition("_")[0].lower())
    for name in ("SETTINGS", "WORKSPACES"):
        env[f"JUPYTERLAB_{name}_DIR"] = str(home / name.lower())
    env |= {"JUPYTER_CONFIG_PATH": str(home / "course"), "JUPYTER_PLATFORM_DIRS": "1"}
    env |= {"PYTHONHASHSEED": "0", "TF_CPP_MIN_LOG_LEVEL": "3", "TF_ENABLE_ONEDNN_OPTS": "0"}
    return env


def _write_settings(home: Path) -> None:
    settings = json.loads(SETTINGS.read_text()) | RENDER_ALL
    folder = home / "course" / "labconfig"
    folder.mkdir(parents=True)
    (folder / "default_setting_overrides.json").write_text(json.dumps(settings))


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
