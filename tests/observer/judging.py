"""Runs pairs on the servers, and compares the watched run with the plain ones."""

import ast
import json
import os
import random
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.observer.cases import Program
from tests.observer.said import SAID
from tests.observer.verbs import VERBS

ROOT = Path(__file__).parents[2]
FRAMEWORKS = "plain", "torch", "tensorflow"
# Of these a plain run without the call is as good, for a verb that keeps none of its compiling.
OF_COMPILING = ("dynamo", "tf functions", "keras", "tf random", "objects", "threads")
REFUSALS = ("TypeError", "ValueError", "LookupError", "RuntimeError", "MissingPart")
# What a module of the standard library, or a server of ours that is used again, may add for good.
SLACK = {"at exit": 3}
OF_A_SERVER = {"files": 2, "children": 1, "at exit": 4}
WITH_A_SERVER = ("watch_in_child", "call_in_child")


def run_jobs(framework: str, jobs: Iterable[dict]) -> Iterator[tuple[dict, dict]]:
    """Yield each job with its trail, from a server of that framework.

    A job is asked for only when the trail of the one before it is there.
    """
    env = {**os.environ, "PYTHONHASHSEED": "0", "TF_CPP_MIN_LOG_LEVEL": "3"}
    env |= {"TF_ENABLE_ONEDNN_OPTS": "0", "COURSE_RECORD": "off", "CUDA_VISIBLE_DEVICES": "-1"}
    env |= {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    env["PYTHONPATH"] = os.pathsep.join(filter(None, (str(ROOT), env.get("PYTHONPATH"))))
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.observer.server", framework],
        cwd=ROOT,
        env=env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    with server:
        for job in jobs:
            server.stdin.write(json.dumps(job) + "\n")
            server.stdin.flush()
            line = server.stdout.readline()
            if not line:
                raise RuntimeError(f"the server of {framework} ended at {job}")
            yield tuple(json.loads(line))
        server.stdin.close()


def table(framework: str) -> dict[str, Program]:
    """Return the programs of a framework by name, read from the source: nothing is imported."""
    source = (Path(__file__).parent / f"programs_{framework}.py").read_text("utf-8")
    found = {}
    for function in ast.parse(source).body:
        marks = getattr(function, "decorator_list", [])
        if marks and getattr(getattr(marks[0], "func", None), "id", "") == "program":
            kinds = "".join(argument.value for argument in marks[0].args)
            name = f"{framework}:{function.name}"
            found[name] = Program(function.name, framework, frozenset(kinds.split()), None)
    return found


def differences(verb, watched: dict, plain: dict[int, dict]) -> list[str]:
    """Return what differs between a watched run and the plain ones: without, and with its calls."""
    broken = [one["broken"] for one in (watched, *plain.values()) if "broken" in one]
    if broken:
        return [f"broken: {broken[0][-600:]}"]
    found, own = [], plain[max(plain)]
    refused = [_is_refusal(act, own) for act in watched["acts"]]
    for number, act in enumerate(watched["acts"]):
        expected = _expected(own["acts"], number, len(watched["acts"]))
        if not refused[number]:
            acted = _act_differences(verb, act, expected)
            found += [words for words in acted if not _is_said(verb, words.split(":")[0], watched)]
        elif why := _bad_refusal(act):
            found.append(f"act.raised: {why}")
    allowed = [plain[count] for count in plain if _allows(verb, count, all(refused))]
    for part in ("after", "end"):
        for sense, now in watched[part].items():
            accepted = [one[part][sense] for one in allowed]
            if sense.startswith(OF_COMPILING) and verb.own_compile:
                accepted += [one[at][sense] for one in plain.values() for at in (part, "end")]
            if str(now).startswith("cannot be read"):
                found.append(f"{part}.{sense}: {now}")
            if now in accepted or _is_slack(verb, sense, accepted[0], now):
                continue
            if verb.own_compile and (sense == "dynamo counters" or _is_garbage(part, sense)):
                continue
            if accepted[0] is None and sense != "frameworks":
                continue  # of a framework that somebody has imported: the sense for that tells
            if not _is_said(verb, sense, watched):
                found.append(f"{part}.{sense}: {shortened(accepted[0], now)}")
    for name, now in watched["probes"].items():
        accepted = [_without_trace(one["probes"][name]) for one in allowed]
        if verb.own_compile:
            accepted += [_without_trace(one["probes"][name]) for one in plain.values()]
        if _without_trace(now) not in accepted and not _is_said(verb, f"probe.{name}", watched):
            found.append(f"probe.{name}: {shortened(accepted[0], _without_trace(now))}")
    return found


def _is_garbage(part: str, sense: str) -> bool:
    """Return whether what a verb compiled may still be there, until the next collection."""
    return part == "after" and sense in ("dynamo entries", "tf functions")


def _expected(acts: list[dict], number: int, uses: int) -> dict | None:
    """Return the plain call that belongs to one use of a verb, with what all of its calls print."""
    each = len(acts) // uses
    if not each:
        return None
    of_use = acts[number * each : (number + 1) * each]
    printed = {name: "".join(act[name] for act in of_use) for name in ("stdout", "stderr")}
    raised = next((act["raised"] for act in of_use if act["raised"]), None)
    return {**of_use[0], **printed, "raised": raised}


def _allows(verb, count: int, refused: bool) -> bool:
    """Return whether a plain run with so many calls is what the verb should come to."""
    if refused:
        return True
    many = len(verb.calls) > 1
    return many or (count > 0) == (verb.calls[0] > 0)


def _without_trace(seen: dict) -> dict:
    return {key: value for key, value in seen.items() if key != "trace"}


def _is_refusal(act: dict, own: dict | None) -> bool:
    if act["raised"] is None:
        return False
    of_program = own and own["acts"] and own["acts"][0]["raised"]
    return not of_program or of_program[:1] != act["raised"][:1]


def _bad_refusal(act: dict) -> str:
    """Return what is wrong with an error that the program alone does not raise."""
    kind, words, *_ = act["raised"]
    name = kind.rpartition(".")[2]
    if name in REFUSALS and "\n" not in words and words:
        return ""
    return f"{kind}: {words[:300]} {act.get('trace', '')[-900:]}"


def _act_differences(verb, act: dict, expected: dict | None) -> list[str]:
    found = []
    if expected is None:
        if act["raised"] is not None:
            found.append(f"act.raised: {act['raised']}")
        expected = {"stdout": "", "stderr": "", "value": None, "raised": None}
    elif act["raised"] is not None and act["raised"] != expected["raised"]:
        found.append(f"act.raised: {shortened(expected['raised'], act['raised'])}")
    elif verb.value:
        pairs = [(item, expected[item], act[item]) for item in ("value", "raised", "stdout")]
        found += [f"act.{n}: {shortened(old, new)}" for n, old, new in pairs if old != new]
    elif act["stdout"] and act["raised"] is None:
        found += _more("act.stdout", expected["stdout"], act["stdout"])
    if act["stderr"] != expected["stderr"]:
        found += _more("act.stderr", expected["stderr"], act["stderr"])
    return found


def _more(item: str, before: str, now: str) -> list[str]:
    """Return the lines that only the watched run has printed."""
    known = set(before.splitlines())
    more = [line for line in now.splitlines() if line not in known]
    return [f"{item}: {line[:200]}" for line in more[:2]]


def _is_slack(verb, sense: str, before, now) -> bool:
    slack = SLACK
    if verb.name in WITH_A_SERVER:
        slack = OF_A_SERVER
    return sense in slack and abs(now - before) <= slack[sense]


def _is_said(verb, item: str, watched: dict) -> bool:
    words = SAID.get((verb.name, item))
    return bool(words) and all(re.search(words, act["text"]) for act in watched["acts"])


def shortened(before, now) -> str:
    """Return how two values differ, in a few words."""
    if isinstance(before, dict) and isinstance(now, dict):
        keys = [key for key in {**before, **now} if before.get(key) != now.get(key)]
        told = [f"{key}: {shortened(before.get(key), now.get(key))}" for key in keys[:4]]
        return "; ".join(told)
    if isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        pairs = [(old, new) for old, new in zip(before, now, strict=True) if old != new]
        return "; ".join(shortened(old, new) for old, new in pairs[:3])
    if isinstance(before, list) and isinstance(now, list):
        gone = [str(one) for one in before if one not in now]
        more = [str(one) for one in now if one not in before]
        return f"without {gone[:4]}, with {more[:4]}"[:500]
    if isinstance(before, str) and isinstance(now, str) and len(before + now) > 300:
        at = next(
            (at for at, pair in enumerate(zip(before, now, strict=False)) if pair[0] != pair[1]), 0
        )
        return f"…{before[max(at - 60, 0) : at + 120]} -> …{now[max(at - 60, 0) : at + 120]}"
    return f"{str(before)[:300]} -> {str(now)[:300]}"


def every_pair(programs: dict) -> list[tuple[str, object]]:
    """Return (program, verb) for each verb that fits a program.

    Two programs are enough for a verb that does not look at it.
    """
    found = []
    for verb in VERBS.values():
        names = [name for name, program in programs.items() if verb.fits(program)]
        if verb.alone:
            names = random.Random(verb.name).sample(names, min(2, len(names)))
        found += [(name, verb) for name in names]
    return sorted(found, key=lambda pair: [*programs].index(pair[0]))


def drawn_pairs(programs: dict, seed: int) -> list[tuple[str, object]]:
    """Draw pairs in which each program and each verb is at least once; none that costs seconds."""
    draw = random.Random(seed)
    pairs = [
        (name, verb)
        for name, verb in every_pair(programs)
        if not verb.costs and "long" not in programs[name].kinds
    ]
    draw.shuffle(pairs)
    names, found = {name for name, _ in pairs}, []
    verbs = {verb.name for _, verb in pairs}
    for wanted in (2, 1):  # first pairs that are new in both
        for name, verb in pairs:
            new = (name in names) + (verb.name in verbs)
            if new >= wanted:
                found.append((name, verb))
                names.discard(name)
                verbs.discard(verb.name)
    return sorted(found, key=lambda pair: [*programs].index(pair[0]))


class Plain:
    """The plain runs of programs, each run once."""

    def __init__(self):
        self._known = {}

    def jobs(self, program: str, times: int) -> list[dict]:
        """Return the plain runs that are not known yet."""
        counts = [count for count in {0, times} if (program, count) not in self._known]
        return [{"program": program, "verb": None, "times": count} for count in counts]

    def note(self, job: dict, trail: dict) -> None:
        """Keep a plain run."""
        self._known[job["program"], job["times"]] = trail

    def of(self, program: str, times: int) -> dict[int, dict]:
        """Return the plain runs with no call and with `times` calls."""
        return {count: self._known[program, count] for count in {0, times}}


def growth_jobs(pairs: Iterable[tuple[str, object]]) -> Iterator[dict]:
    """Yield two jobs for each pair: how objects grow in ten calls, and in ten uses of the verb."""
    for program, verb in pairs:
        for name in (None, verb.name):
            calls = max(verb.calls) if name is None else 1
            yield {"program": program, "verb": name, "grow": True, "calls": calls}


def judge_growth(framework: str, pairs: Iterable[tuple[str, object]]):
    """Yield (program, verb name, what grows by one a use or more) of each pair."""
    plain = {}
    for job, trail in run_jobs(framework, growth_jobs(pairs)):
        grown = trail.get("growth", {"broken": trail.get("broken")})
        if job["verb"] is None:
            plain = grown
            continue
        more = {
            kind: n for kind, n in grown.items() if kind == "broken" or n - plain.get(kind, 0) >= 8
        }
        yield job["program"], job["verb"], more


def judge_pairs(framework: str, pairs: Iterable[tuple[str, object, int]]):
    """Yield (program, verb, times, differences, trail) of each pair."""
    plain, waiting = Plain(), []

    def jobs():
        for program, verb, times in pairs:
            yield from plain.jobs(program, times * max(verb.calls))
            waiting.append((program, verb, times))
            yield {"program": program, "verb": verb.name, "times": times}

    for job, trail in run_jobs(framework, jobs()):
        if job["verb"] is None:
            plain.note(job, trail)
            continue
        program, verb, times = waiting.pop()
        found = differences(verb, trail, plain.of(program, times * max(verb.calls)))
        yield program, verb, times, [" ".join(words.split()) for words in found], trail
