"""Ctrl-C while a verb watches: the exhibit so far, then KeyboardInterrupt, and nothing is left."""

import json
import os
import signal
import sys
import threading
import time
from functools import cache

import psutil
import pytest

from helpers import watch_in_child
from tests.a_kernel import Client
from tests.front_door import INSTRUMENTS
from tests.pythons import ROOT, finished
from tests.safety import interrupted_programs

HOUSE, SYSTEMS = str(ROOT / "helpers"), str(ROOT / "helpers" / "mini" / "vm")
LONGEST = 900  # seconds: a hang becomes a failure
NOT_DRAWN = {"watch_race"}  # it may be interrupted before its first run
FRAMEWORKS = {"torch": "torch", "tensorflow": "tensorflow"}
VERBS = {
    "python": "watch_names watch_frames watch_stack watch_hooked watch_callers watch_routes "
    "watch_specialising watch_costs watch_tracers show_journey",
    "machine": "watch_stack",
    "torch": "watch_ops watch_call watch_calls show_journey watch_compile watch_breaks "
    "watch_rewriting watch_fixes watch_guard_sets watch_recompiles watching_ops watching_breaks "
    "watching_recompiles",
    "tensorflow": "watch_ops watch_call watch_mutations watch_race watch_variables watch_traces "
    "watching_ops watching_traces",
}
VERBS = {group: names.split() for group, names in VERBS.items()}
# Nothing is recorded before the run of these is over, or they run nothing of the learner's.
UNRECORDED = {"watch_optimisation", "watch_inductor"}


@cache
def found(group: str, every: bool) -> list[dict]:
    """Return what came of each case of a group, run in a child."""
    env = {k: v for k, v in os.environ.items() if k != "COURSE_SAMPLES"}
    env |= {"COURSE_SAMPLES": "all"} if every else {}
    command = [sys.executable, "-m", interrupted_programs.__name__, group]
    done = finished(command, cwd=ROOT, env=env, timeout=LONGEST)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"verb"')]


def is_ours(file: str) -> bool:
    """Return whether a frame of this file is of a verb; the small systems run like any program."""
    return file.startswith(HOUSE) and not file.startswith(SYSTEMS)


def faults(case: dict) -> list[str]:
    """Return what of the promise a case breaks."""
    drawn = " ".join(case["drawn"].split())
    may_be_bare = case["verb"] in NOT_DRAWN
    wrong = {
        f"raised {case['raised']}": case["raised"] != "KeyboardInterrupt",
        f"frames of ours: {case['frames']}": any(map(is_ours, case["frames"])),
        f"changed: {case['changed']}": bool(case["changed"]) or not case["stream"],
        f"drew {drawn!r}": "ou interrupted " not in drawn and not (may_be_bare and not drawn),
    }
    where = f"{case['verb']}({case['program']}) after {case['moment']} s"
    return [f"{where}: {fault}" for fault, is_so in wrong.items() if is_so]


@pytest.mark.parametrize("group", interrupted_programs.GROUPS)
@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.long)])
def test_ctrl_c_draws_what_was_recorded_and_leaves_all_as_it_was(group, every):
    if group in FRAMEWORKS:
        pytest.importorskip(FRAMEWORKS[group])
    cases = found(group, every)
    assert {case["verb"] for case in cases} == set(VERBS[group])
    assert sum(map(faults, cases), []) == []


def test_each_verb_that_records_is_in_a_group():
    recording = {name for name in INSTRUMENTS if name.startswith("watch")}
    assert recording == ({*sum(VERBS.values(), []), "watch_in_child"} | UNRECORDED) - {
        "show_journey"
    }


FOREVER = """
def forever():
    n = 0
    while True:
        n += 1
        open({sign!r}, "w").close()
"""


def test_a_kernel_shows_the_exhibit_and_only_the_learner_s_frames(tmp_path):
    client, sign = Client(tmp_path), tmp_path / "sign"
    try:
        client.run(f"import helpers{FOREVER.format(sign=str(sign))}")
        for verb in ("watch_stack", "watch_names"):
            sign.unlink(missing_ok=True)
            interrupt = threading.Thread(target=_interrupt_after, args=(client, sign))
            interrupt.start()
            shown = client.run(f"helpers.{verb}(forever)")
            interrupt.join()
            assert "interrupted" in shown
            assert "KeyboardInterrupt" in client.trace and "/helpers/" not in client.trace
            assert "restoring" not in client.trace
        assert client.run("import sys; print(sys.gettrace(), 1 + 1)") == "None 2\n"
    finally:
        client.end()


def _interrupt_after(client, sign):
    while not sign.exists():
        time.sleep(0.01)
    client.manager.interrupt_kernel()


CHILD = """
import subprocess, sys, time
other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"])
print("one", other.pid, flush=True)
open({sign!r}, "w").close()
time.sleep(3600)
"""


def test_ctrl_c_ends_a_child_with_all_that_it_started_and_shows_what_it_printed(tmp_path, capsys):
    sign, main = tmp_path / "sign", threading.main_thread().ident

    def press():
        while not sign.exists():
            time.sleep(0.01)
        signal.pthread_kill(main, signal.SIGINT)

    thread = threading.Thread(target=press)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        watch_in_child(CHILD.format(sign=str(sign)), "print('never')", imports="")
    thread.join()
    told = capsys.readouterr().out
    assert "interrupted" in told and "never" not in told
    number = int(told.partition("\none ")[2].split()[0]) if "\none " in told else None
    assert number is None or not psutil.pid_exists(number)
    assert "one " in told
