"""What a verb of torch.compile leaves in Dynamo: nothing, for programs of many kinds."""

import json
import re
import subprocess
import sys

import pytest

from tests.samples import WHOLE

pytest.importorskip("torch")

ADDRESS = re.compile(r"0x[0-9a-f]+")
VERBS = "watch_breaks", "watch_compile", "watch_rewriting", "watch_fixes", "watching_breaks"
TIMES = 10 if WHOLE else 1  # the programs that meet a limit watch ten times in any case


def start(*verbs):
    """Start a process that runs each program, with these verbs by turns."""
    command = [sys.executable, "-m", "tests.capture.dynamo_users", str(TIMES), *verbs]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def felt(process):
    """Return program -> what it could feel of Dynamo."""
    out, errors = process.communicate()
    assert process.returncode == 0, errors
    return json.loads(ADDRESS.sub("0x", out))


def differences(plain, watched):
    """Return each thing that a program could feel, as without a verb and as with one."""
    for name, found in plain.items():
        for key, value in found.items():
            if value != watched[name][key]:
                yield f"{name}, {key}: {value} without a verb, {watched[name][key]} with one"


def test_programs_feel_nothing_of_a_verb():
    orders = [VERBS[at:] + VERBS[:at] for at in range(len(VERBS) if WHOLE else 1)]
    processes = [start("plain"), *(start(*order) for order in orders)]
    plain, *watched = map(felt, processes)
    assert len(plain) >= 25
    found = [line for one in watched for line in differences(plain, one)]
    assert not found, "\n".join(found)
