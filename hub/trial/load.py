"""How many learners -> what a run gave in which all arrive at once; runs that rise."""

import asyncio
import os
import statistics
import tempfile
from pathlib import Path

from hub.trial import memory
from hub.trial.environment import ROOT
from hub.trial.learner import Learner
from hub.trial.server import Hub
from hub.trial.visit import Visit, written

RESERVE_MIB = 1536  # what the rest of the machine keeps
# The learner who comes first takes the first of these: with and without frameworks in turn.
ROTA = ("03", "05", "01", "04", "02", "06", "00", "07")
KINDS = ("server", "first output", "all cells")


class ShortOfMemory(Exception):
    """The machine has less left than the reserve."""


def chapters(count: int, rota=ROTA) -> list[str]:
    """Return the chapter of each learner."""
    names = {path.name[:2]: path.name for path in (ROOT / "notebooks").glob("0*.ipynb")}
    return [names[rota[number % len(rota)]] for number in range(count)]


def run(count: int, rota=ROTA) -> dict:
    """Let so many learners arrive at once, in a hub of their own; return what was measured."""
    load = os.getloadavg()[0]
    with (
        tempfile.TemporaryDirectory(prefix="course-hub-") as folder,
        Hub(Path(folder)) as hub,
        memory.Meter(hub) as meter,
    ):
        idle = _own_core_seconds(hub)
        visits, trouble = asyncio.run(_room(hub, chapters(count, rota), meter))
        rest, busy = memory.now(hub), _core_seconds(hub, visits, idle)
        back = asyncio.run(_come_back(hub, visits))
    return {
        "learners": count,
        "load before": round(load, 1),
        "faults": [fault for one in visits for fault in one.faults] + trouble,
        "kept": sum(back),
        **{kind: _spread([one.seconds.get(kind) for one in visits]) for kind in KINDS},
        "core seconds": busy,
        "hub MiB": round(meter.peaks.get("hub", 0)),
        "proxy MiB": round(meter.peaks.get("proxy", 0)),
        "rest MiB": round(sum(rest.get(one.learner.name, 0) for one in visits)),
        "peak MiB": round(meter.peak),
        "chapters": _by_chapter(visits, meter.peaks, rest),
    }


def rise(counts, rota=ROTA, done=lambda result: None) -> list[dict]:
    """Run with each number in turn, until the next would not fit or something breaks."""
    results = []
    for count in counts:
        if results:
            needed = results[-1]["peak MiB"] / results[-1]["learners"] * count
            if memory.available() - needed < RESERVE_MIB:
                return results
        results.append(run(count, rota))
        done(results[-1])
        if results[-1]["faults"]:
            return results
    return results


async def _room(hub: Hub, names: list[str], meter) -> tuple[list[Visit], list[str]]:
    visits = [Visit(Learner(hub, f"learner{n}"), name) for n, name in enumerate(names)]
    tasks = [asyncio.create_task(one.whole()) for one in visits]
    trouble = []
    while not all(task.done() for task in tasks):
        await asyncio.wait(tasks, timeout=1)
        if meter.least_available < RESERVE_MIB and not trouble:
            trouble.append(f"less than {RESERVE_MIB} MiB left with {len(visits)} learners")
            for task in tasks:
                task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    for one in visits:
        await one.learner.close()
        one.learner = Learner(hub, one.learner.name)  # a new browser, in a new loop
    return visits, trouble


async def _come_back(hub: Hub, visits: list[Visit]) -> list[bool]:
    """Stop each server, come back, and tell whether the chapter is as it was saved."""

    async def one(visit: Visit) -> bool:
        if visit.faults:
            return False
        learner = visit.learner
        await learner.log_in()
        await learner.leave()
        await learner.enter(f"lab/tree/course/work/{visit.chapter}")
        kept = written(await learner.read(visit.chapter)) == written(visit.notebook)
        await learner.close()
        return kept

    return [await one(visit) for visit in visits]


def _core_seconds(hub: Hub, visits: list[Visit], idle: dict) -> dict[str, float]:
    """Return what one visit took: of the hub, of the proxy, of the learner's server and kernel."""
    own = {name: seconds - idle.get(name, 0.0) for name, seconds in _own_core_seconds(hub).items()}
    own["learner"] = sum(memory.core_seconds(hub.processes_of(v.learner.name)) for v in visits)
    return {name: round(seconds / len(visits), 2) for name, seconds in own.items()}


def _own_core_seconds(hub: Hub) -> dict[str, float]:
    return {name: memory.core_seconds([one]) for name, one in hub.own_processes().items()}


def _spread(seconds: list) -> dict[str, float]:
    known = [one for one in seconds if one is not None]
    if not known:
        return {}
    return {"median": round(statistics.median(known), 1), "most": round(max(known), 1)}


def _by_chapter(visits, peaks, rest) -> dict[str, dict[str, int]]:
    found = {}
    for one in visits:
        own = found.setdefault(one.chapter[:2], {"rest MiB": 0, "peak MiB": 0})
        own["rest MiB"] = max(own["rest MiB"], round(rest.get(one.learner.name, 0)))
        own["peak MiB"] = max(own["peak MiB"], round(peaks.get(one.learner.name, 0)))
    return dict(sorted(found.items()))
