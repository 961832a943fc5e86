"""A process that has imported one framework, and runs each pair in a fork of itself.

`python -m tests.observer.server torch` reads jobs, one JSON object a line, and writes a trail for
each. A fork shares the start: nothing of a framework runs before it, so there are no threads yet.
"""

import contextlib
import gc
import importlib
import json
import os
import random
import select
import signal
import sys
import tempfile
import time
import traceback

import helpers
from tests.front_door import INSTRUMENTS
from tests.observer import feel, harmful, verbs
from tests.observer.cases import PROGRAMS

LONGEST = 90  # seconds that a pair may take
MODULES = "tests.observer.programs_"
IMPORTED = {"torch": ("torch", "torch._dynamo"), "tensorflow": ("tensorflow", "keras", "numpy")}


class Printed:
    """File descriptors 1 and 2, in files that are read piece by piece."""

    def __init__(self):
        self._files = [tempfile.TemporaryFile() for _ in range(2)]  # noqa: SIM115  the child's
        self._read = [0, 0]
        for number, file in enumerate(self._files, 1):
            os.dup2(file.fileno(), number)

    def new(self) -> list[str]:
        """Return what was written to each since the last time."""
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):
                stream.flush()
        return [self._piece(number) for number in range(2)]

    def _piece(self, number: int) -> str:
        # Reading must not move the position, which the descriptor shares.
        data = os.pread(self._files[number].fileno(), 1 << 22, self._read[number])
        self._read[number] += len(data)
        return feel.masked(data.decode("utf-8", "replace"))


def observe(call, printed: Printed, render: bool = False) -> dict:
    """Return what a call returned or raised, and printed."""
    seen = {"raised": None, "value": None, "text": ""}
    try:
        value = call()
        seen["value"] = feel.words_of(value)
        if render and hasattr(value, "text"):
            seen["text"] = value.text()
            value._page()
        del value
    except BaseException as error:
        seen["raised"] = feel.error_of(error)
        seen["trace"] = traceback.format_exc()[-3000:]
        error.__traceback__ = None
    seen["stdout"], seen["stderr"] = printed.new()
    return seen


def run(job: dict) -> dict:
    """Run a job in this process: build the program, use the verb, try its probes."""
    printed = Printed()
    gc.set_threshold(0)  # no collection by chance
    random.seed(0)  # a fork has seeded it by chance
    case = PROGRAMS[job["program"]].build()
    known = {**verbs.VERBS, **harmful.VERBS}
    verb = known[job["verb"]] if job["verb"] else None
    act = (lambda: verb.act(case)) if verb else case.call
    printed.new()
    if job.get("grow"):
        return {"growth": measure_growth(act, job.get("calls", 1))}
    acts = [observe(act, printed, verb is not None) for _ in range(job["times"])]
    for seen, said in zip(acts, case.said, strict=False):
        seen["text"] = said
    after = feel.feel(case)
    probes = {name: observe(probe, printed) for name, probe in case.probes.items()}
    gc.collect()  # what is left now is held by somebody
    return {"acts": acts, "after": after, "probes": probes, "end": feel.feel(case)}


def measure_growth(act, calls: int) -> dict:
    """Return by how many each type of object grows in ten uses, after three."""
    counts = []
    for uses in (3, 10):
        for _ in range(uses * calls):
            with contextlib.suppress(Exception):
                made = act()
                if hasattr(made, "text"):
                    made.text()
                del made
        gc.collect()
        counts.append(count_types())
    before, after = counts
    return {name: more for name in after if (more := after[name] - before.get(name, 0)) >= 8}


def count_types() -> dict[str, int]:
    """Return how many objects there are of each type that the collector knows."""
    found = {}
    for one in gc.get_objects():
        kind = type(one)
        name = f"{kind.__module__}.{kind.__qualname__}"
        found[name] = found.get(name, 0) + 1
    return found


def run_in_fork(job: dict) -> dict:
    """Return the trail of a job, run in a fork of this process."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        os.setsid()
        try:
            trail = run(job)
        except BaseException:
            trail = {"broken": traceback.format_exc()[-4000:]}
        with os.fdopen(writing, "w") as out:
            out.write(json.dumps(trail, default=str) + "\n")
        os._exit(0)
    os.close(writing)
    said, ended = _read(reading, time.monotonic() + LONGEST)
    if not ended:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)  # what it started and left
    if not said or not ended:
        why = f"did not end in {LONGEST} s" if not ended else f"ended with status {status}"
        return {"broken": f"the child {why}"}
    return json.loads(said)


def _read(reading: int, until: float) -> tuple[bytes, bool]:
    """Return the line that a child writes; a child of its own may keep the pipe open after it."""
    said = b""
    while (left := until - time.monotonic()) > 0:
        if not select.select([reading], [], [], left)[0]:
            break
        piece = os.read(reading, 1 << 16)
        said += piece
        if not piece or piece.endswith(b"\n"):
            os.close(reading)
            return said, True
    os.close(reading)
    return said, False


def warm_dynamo(torch) -> None:
    """Compile once: what Dynamo imports and registers for it is no verb's doing."""
    torch.compile(lambda x: x + 1, backend="eager")(torch.ones(2))
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()


def load_verbs(framework: str) -> None:
    """Import what the verbs are made of, which imports no framework; each fork has it then."""
    before = feel.OF_PROCESS["frameworks"]()
    for name in INSTRUMENTS:
        getattr(helpers, name)
    if more := set(feel.OF_PROCESS["frameworks"]()) - set(before):
        raise RuntimeError(f"the verbs import {more} beside {framework}")


def set_heap_aside() -> None:
    """Hide what there is from the collector, so that looking through the heap is quick."""
    gc.collect()
    feel.remember_codes()
    gc.freeze()


def import_framework(framework: str) -> None:
    """Import a framework and what it imports at its first use."""
    if framework == "plain":
        return
    for name in IMPORTED[framework]:
        importlib.import_module(name)
    load_verbs(framework)
    if framework == "torch":
        import torch

        torch.set_num_threads(1)
        warm_dynamo(torch)


def main(framework: str, heap: str = "whole") -> None:
    """Serve jobs until the input ends."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    import_framework(framework)
    if heap == "small":
        set_heap_aside()
    importlib.import_module(f"{MODULES}{framework}")  # what is its own stays in sight
    for line in sys.stdin:
        job = json.loads(line)
        feel.remember_places()
        began = time.monotonic()
        trail = run_in_fork(job)
        trail["seconds"] = round(time.monotonic() - began, 2)
        out.write(json.dumps(trail) + "\n")
        out.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
