"""A notebook that was saved after a run, exported: every exhibit is there without the network."""

import json
import os
import subprocess
import sys
from pathlib import Path

import nbformat

SHARE = Path(__file__).parents[1] / "share" / "etc" / "jupyter"
SETTINGS = SHARE / "jupyter_nbconvert_config.json"
VIEW = "application/vnd.jupyter.widget-view+json"
MODEL = "0123456789abcdef0123456789abcdef"


def exported(folder: Path, settings: Path | None) -> str:
    """Return a notebook with one stepper, as `jupyter nbconvert --to html` exports it.

    Without settings, those of the environment are not read, either.
    """
    shown = {VIEW: {"model_id": MODEL}, "text/html": "<p>step by step</p>", "text/plain": "steps"}
    output = nbformat.v4.new_output("display_data", shown)
    cell = nbformat.v4.new_code_cell("watch()", outputs=[output])
    state = {MODEL: {"model_name": "AnyModel", "model_module": "anywidget", "state": {}}}
    widgets = {"application/vnd.jupyter.widget-state+json": {"version_major": 2, "state": state}}
    notebook = nbformat.v4.new_notebook(cells=[cell], metadata={"widgets": widgets})
    nbformat.write(notebook, folder / "a.ipynb")
    command = [sys.executable, "-m", "nbconvert", "--to", "html", "a.ipynb"]
    none = "" if settings else "1"
    env = os.environ | {"JUPYTER_CONFIG_PATH": str(settings or ""), "JUPYTER_NO_CONFIG": none}
    subprocess.run(command, cwd=folder, env=env, check=True, capture_output=True, timeout=120)
    return (folder / "a.html").read_text(encoding="utf-8")


def test_a_stepper_is_exported_as_its_page(tmp_path):
    assert "<p>step by step</p>" in exported(tmp_path, SHARE)


def test_lab_exports_as_the_command_does():
    (beside,) = SHARE.glob("jupyter_server_config.d/*.json")
    assert json.loads(beside.read_text()) == json.loads(SETTINGS.read_text())
