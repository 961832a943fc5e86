"""Code -> what it prints and shows in a real kernel."""

import os
import re
import sys
import time
from pathlib import Path

import pytest

jupyter_client = pytest.importorskip("jupyter_client")
pytest.importorskip("ipykernel")

COLOURS = re.compile(r"\x1b\[[0-9;]*m")


class Client:
    """A kernel to send code to; `run` returns what it printed and showed, errors among it.

    `errors` are written into `folder`; it runs in `cwd`, here as a rule, with the variables `env`.
    `trace`: the last traceback, without colours.
    """

    trace = ""

    def __init__(self, folder, cwd=Path(__file__).parents[1], env=None):
        self.manager = jupyter_client.KernelManager()
        self.manager.kernel_spec.argv[0] = sys.executable
        with open(folder / "errors", "w") as errors:
            self.manager.start_kernel(cwd=str(cwd), env=env or dict(os.environ), stderr=errors)
        self.client = self.manager.blocking_client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=60)

    def run(self, code: str) -> str:
        asked, shown = self.client.execute(code), []
        until = time.monotonic() + 60
        while time.monotonic() < until:
            message = self.client.get_iopub_msg(timeout=60)
            content = message["content"]
            if message["parent_header"].get("msg_id") != asked:
                continue
            if content.get("execution_state") == "idle":
                return "".join(shown)
            if "traceback" in content:
                self.trace = COLOURS.sub("", "\n".join(content["traceback"]))
            shown.append(content.get("text") or content.get("evalue") or "")
            shown.append(content.get("data", {}).get("text/plain", ""))
        raise TimeoutError(code)

    def end(self):
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)
