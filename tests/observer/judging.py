"""Runs pairs on the servers, and compares the watched run with the plain ones."""

import ast
import json
import os
import random
import re
import subprocess
import sys
from collections.abc import Iterable
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


class Server:
    """A process that has imported a framework and runs jobs; it keeps the plain runs.

    In a small heap a pair costs a quarter: what the framework made is set aside (`gc.freeze`).
    """

    def __init__(self, framework: str, small_heap: bool = True):
        self.framework = framework
        self._plain: dict[tuple[str, int], dict] = {}
        heap = "small" if small_heap else "whole"
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.observer.server", framework, heap],
            cwd=ROOT,
            env=_environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def run(self, **job) -> dict:
        """Return the trail of a job."""
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the server of {self.framework} ended at {job}")
        return json.loads(line)

    def run_plain(self, program: str, calls: int) -> dict:
        """Return the trail of a program that is called without a verb; it is run once."""
        key = program, calls
        if key not in self._plain:
            self._plain[key] = self.run(program=program, verb=None, times=calls)
        return self._plain[key]


def _environment() -> dict[str, str]:
    """Return the environment of a server."""
    env = {**os.environ, "PYTHONHASHSEED": "0", "TF_CPP_MIN_LOG_LEVEL": "3"}
    env |= {"TF_ENABLE_ONEDNN_OPTS": "0", "COURSE_RECORD": "off", "CUDA_VISIBLE_DEVICES": "-1"}
    env |= {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    env["PYTHONPATH"] = os.pathsep.join(filter(None, (str(ROOT), env.get("PYTHONPATH"))))
    return env


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
    """Return whether a verb raised a sentence of its own, which names the verb or has its type."""
    if act["raised"] is None:
        return False
    if re.match(r"(show|watch)_\w+: ", act["raised"][1]):
        return True
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
    """Draw pairs in which each program and each verb is at least once.

    Of the verbs that cost seconds the seed draws one, for one framework.
    """
    draw = random.Random(seed)
    pairs = [(name, verb) for name, verb in every_pair(programs) if not verb.costs]
    draw.shuffle(pairs)
    names, found = {name for name, _ in pairs}, []
    verbs = {verb.name for _, verb in pairs}
    runs = set()  # the plain runs that the drawn pairs need
    for wanted in (2, 1):  # first pairs that are new in both
        pairs.sort(key=lambda pair: (pair[0], max(pair[1].calls)) not in runs)
        for name, verb in pairs:
            new = (name in names) + (verb.name in verbs)
            if new >= wanted and not (wanted == 1 and _is_long_again(programs[name], names)):
                found.append((name, verb))
                runs.add((name, max(verb.calls)))
                names.discard(name)
                verbs.discard(verb.name)
    found += drawn_costly_pair(programs, seed)
    return sorted(found, key=lambda pair: [*programs].index(pair[0]))


def _is_long_again(program: Program, left: set[str]) -> bool:
    """Return whether a program that costs seconds was drawn already."""
    return "long" in program.kinds and f"{program.framework}:{program.name}" not in left


def drawn_costly_pair(programs: dict, seed: int) -> list[tuple[str, object]]:
    """Draw one verb that costs seconds, and its framework; return its pair if it is of this one.

    They are: watch_specialising, watch_tracers, watch_costs, show_environment, watch_in_child,
    call_in_child, show_journey with ways, watch_inductor, show_c_api, show_imports_then_and_now.
    """
    draw = random.Random(seed)
    verb = draw.choice([verb for verb in VERBS.values() if verb.costs])
    framework = draw.choice(verb.frameworks)
    of_verb = [
        (name, other)
        for name, other in every_pair(programs)
        if other is verb and programs[name].framework == framework
        if "long" not in programs[name].kinds
    ]
    return draw.sample(of_verb, min(1, len(of_verb)))


def judge_growth(server: Server, pairs: Iterable[tuple[str, object]]):
    """Yield (program, verb name, what grows by one a use or more) of each pair.

    PyTorch keeps objects of each compile whose entry is dropped, and TensorFlow of each Dataset and
    each eager py_function. Where the plain program grows, or a verb compiles or runs the Python
    function by itself, only objects of our own types are judged.
    """
    for program, verb in pairs:
        plain = _growth(server, program, None, max(verb.calls))
        grown = _growth(server, program, verb.name, 1)
        judged_types = "helpers." if plain or verb.own_compile else ""
        more = {
            kind: number
            for kind, number in grown.items()
            if kind == "broken" or kind.startswith(judged_types)
        }
        yield program, verb.name, more


def _growth(server: Server, program: str, verb: str | None, calls: int) -> dict:
    """Return how objects grow in ten uses of a verb, or in the calls of them."""
    trail = server.run(program=program, verb=verb, grow=True, calls=calls)
    return trail.get("growth", {"broken": trail.get("broken")})


def judge_pairs(server: Server, pairs: Iterable[tuple[str, object, int]]):
    """Yield (program, verb, times, differences, trail) of each pair."""
    for program, verb, times in pairs:
        trail = server.run(program=program, verb=verb.name, times=times)
        calls = times * max(verb.calls)
        found = differences(verb, trail, {calls: server.run_plain(program, calls)})
        if found and calls:  # the run without a call can only excuse more
            counts = 0, calls
            plain = {count: server.run_plain(program, count) for count in counts}
            found = differences(verb, trail, plain)
        yield program, verb, times, [" ".join(words.split()) for words in found], trail
