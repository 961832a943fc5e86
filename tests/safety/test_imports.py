"""Verbs import no framework that the program has not, and a second call imports nothing at all."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# what the verbs are made of, and what these import; none of it is a framework
OWN = {"_frame_hook", "jinja2", "markupsafe", "psutil", "tabulate", "wcwidth", "networkx"}
OWN |= {"__mp_main__", "lazy_loader", "packaging"}
FRAMEWORKS = {"torch", "numpy", "tensorflow", "keras", "triton", "jax"}  # nor a part of one
CHILD = """
import json, logging, sys
{imported}

def double(x):
    return x + x

def outside():
    known = {{name.partition(".")[0] for name in sys.modules}}
    return known - set(sys.stdlib_module_names)

x, before = [1], outside()
handlers, level = list(logging.root.handlers), logging.root.level
import helpers
calls = {{
    "show_interceptions": (), "show_journey": (double, x), "watch_hooked": (double, x),
    "show_bytecode": (double,), "show_code": (double,), "show_names": ("x",),
    "show_bindings": (x,), "watch_call": (double, x), "watch_calls": ({{"it": lambda: double(x)}},),
    "watch_names": (double, x), "watch_frames": (double, x), "watch_stack": (double, x),
    "watch_ops": (double, x), "show_evaluator": (double,),
}}
found = {{}}
for number in ("first", "second"):
    found[number] = {{}}
    for verb, given in calls.items():
        known = set(sys.modules)
        try:
            str(getattr(helpers, verb)(*given))
        except Exception as error:
            assert "hook" in str(error), (verb, error)
        found[number][verb] = sorted(set(sys.modules) - known)
same = (handlers, level) == (logging.root.handlers, logging.root.level)
print(json.dumps([found, sorted(outside() - before), same]))
"""


@pytest.mark.parametrize("framework", ["", "numpy", "torch"])
def test_verbs_import_no_framework(framework):
    if framework and importlib.util.find_spec(framework) is None:
        pytest.skip(f"{framework} is missing")
    source = CHILD.format(imported=f"import {framework}" if framework else "")
    done = subprocess.run(
        [sys.executable, "-c", source], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert not done.returncode, done.stderr
    found, outside, same_logging = json.loads(done.stdout.splitlines()[-1])
    assert {name for name in outside if not name.startswith("_sysconfig")} <= OWN | {"helpers"}
    parts = {name for names in found["first"].values() for name in names}
    assert not {name for name in parts if name.split(".")[0] in FRAMEWORKS}
    assert not {verb: names for verb, names in found["second"].items() if names} and same_logging
