"""A function -> what it returns when it runs in an interpreter of its own.

For what should not share a process with the notebook: a second framework, or what may end it.
"""

import inspect
import json
import subprocess
import sys
import textwrap

LONGEST = 240  # seconds
_CHILD = """
import json, sys
source, name, arguments = json.loads(sys.stdin.read())
space = {"__name__": "apart"}
exec(compile(source, "<apart>", "exec"), space)
print("\\n" + json.dumps(space[name](*arguments)))
"""


def run_apart(fn, *args):
    """Return `fn(*args)`, run from its source in a child interpreter.

    It must import what it uses. Arguments and result travel as JSON: dicts, lists, text, numbers,
    None. TypeError if there is no source or no JSON, RuntimeError with the child's last line if
    it fails.
    """
    try:
        source = textwrap.dedent(inspect.getsource(fn))
        sent = json.dumps([source, fn.__name__, args])
    except (OSError, TypeError) as error:
        raise TypeError(
            "run_apart needs a function written in Python, and arguments of dicts, lists, text "
            "and numbers"
        ) from error
    done = _run(sent, fn.__name__)
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:] or [f"it ended with {done.returncode}"]
        raise RuntimeError(f"{fn.__name__} failed in its own interpreter: {last[0]}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def _run(sent: str, name: str) -> subprocess.CompletedProcess:
    try:
        return subprocess.run(
            [sys.executable, "-c", _CHILD],
            input=sent,
            capture_output=True,
            text=True,
            timeout=LONGEST,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"{name} did not end within {LONGEST} seconds") from None
