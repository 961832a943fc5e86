"""A running hub -> something is killed in the middle of a visit, and what was lost is looked at."""

import asyncio
import json
import random
import time

import httpx

from hub.trial.kernel import Lost
from hub.trial.learner import Learner, Refused
from hub.trial.server import Hub
from hub.trial.visit import Visit, written

CHAPTER = "03_bytecode_and_frames.ipynb"
LONG = "import time; print('begun', flush=True); time.sleep(600)"


async def settled(hub: Hub, name: str) -> Visit:
    """Return a visit that has run all cells, solved an exercise and saved. Refused."""
    visit = Visit(Learner(hub, name), CHAPTER)
    await visit.whole()
    if visit.faults:
        raise Refused("; ".join(visit.faults))
    return visit


async def kill_server(hub: Hub, visit: Visit, rounds: int) -> dict:
    """Kill a learner's server while a cell runs and a save is under way, some times over.

    A save that is cut off leaves half a file. Jupyter has kept the one before it beside it, and
    takes that when the notebook is opened; so it is judged by what the learner then sees.
    """
    learner, seconds, lost = visit.learner, [], []
    for number in range(rounds):
        visit.notebook.metadata["round"] = number
        await visit.save()
        saved = written(visit.notebook)
        running = asyncio.create_task(visit.kernel.run(LONG))
        visit.notebook.metadata["round"] = f"after {number}"
        saving = asyncio.create_task(visit.save())
        await asyncio.sleep(random.uniform(0, 0.2))
        for one in hub.processes_of(learner.name):
            one.kill()
        await asyncio.gather(running, saving, return_exceptions=True)
        seconds.append(round(await learner.come_back(f"lab/tree/course/work/{CHAPTER}"), 1))
        visit.notebook = await learner.read(CHAPTER)
        if written(visit.notebook) != saved or not _whole_record(hub, learner.name):
            lost.append(f"what was saved in round {number}")
        if visit.notebook.metadata["round"] not in (number, f"after {number}"):
            lost.append(f"the last save of round {number}")
        visit.kernel = await learner.kernel(CHAPTER)
    x = (await visit.kernel.run("x")).text
    lost += ["the kernel's names"] if "not defined" in x else []
    return {"lost": ", ".join(lost), "back after s": seconds}


async def kill_kernel(hub: Hub, visit: Visit) -> dict:
    """Kill the kernel of a chapter; the server starts it anew."""
    began = time.monotonic()
    hub.processes_of(visit.learner.name)[1].kill()
    with_old = await asyncio.gather(visit.kernel.run("x"), return_exceptions=True)
    visit.kernel.close()
    visit.kernel = await visit.learner.kernel(CHAPTER)
    x = (await visit.kernel.run("x")).text
    return {
        "lost": "the kernel's names" if "not defined" in x else "",
        "seen": str(with_old[0]),
        "back after s": [round(time.monotonic() - began, 1)],
    }


async def kill_hub(hub: Hub, visit: Visit) -> dict:
    """Kill the hub; go on meanwhile, save; start it again and log in anew."""
    hub.kill_hub()
    meanwhile = (await visit.kernel.run("x")).text
    await visit.save()
    began = time.monotonic()
    hub.start()
    again = Learner(hub, visit.learner.name)
    await again.log_in()
    await again.come_back()
    await again.close()
    visit.kernel.close()  # the hub brings a proxy of its own; a page connects again by itself
    visit.kernel = await visit.learner.kernel(CHAPTER)
    x = (await visit.kernel.run("x")).text
    return {
        "lost": "" if meanwhile == x == "42" else "the kernel's names",
        "meanwhile": "learners went on",
        "back after s": [round(time.monotonic() - began, 1)],
    }


async def kill_proxy(hub: Hub, visit: Visit) -> dict:
    """Kill the proxy; the hub starts another, and the page connects again to the same kernel."""
    began = time.monotonic()
    hub.own_processes()["proxy"].kill()
    while True:
        try:
            await visit.learner.come_back(f"lab/tree/course/work/{CHAPTER}")
            visit.kernel = await visit.learner.kernel(CHAPTER)
            x = (await visit.kernel.run("x")).text
            return {
                "lost": "" if x == "42" else "the kernel's names",
                "back after s": [round(time.monotonic() - began, 1)],
            }
        except (Lost, Refused, OSError, httpx.HTTPError):
            await asyncio.sleep(1)


async def everything(hub: Hub, rounds: int = 5) -> dict[str, dict]:
    """Kill each in turn; return what -> what was lost, and seconds until the learner was back.

    The server is killed in so many rounds, each at another moment of a save.
    """
    visit = await settled(hub, "killed")
    found = {}
    for kill in (kill_kernel, kill_hub, kill_proxy):
        await visit.kernel.run("x = 42")
        found[kill.__name__.removeprefix("kill_")] = await kill(hub, visit)
    found["server"] = await kill_server(hub, visit, rounds)
    await visit.learner.close()
    return found


def _whole_record(hub: Hub, name: str) -> bool:
    lines = (hub.home(name) / "course/work/progress.jsonl").read_text("utf-8").splitlines()
    return bool(lines) and all(isinstance(json.loads(line), dict) for line in lines)
