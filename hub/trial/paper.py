"""hub/measured.json -> the tables of docs/hub.md: what was measured, what follows."""

import math
import re

from hub.trial import measured
from hub.trial.environment import ROOT

PAGE = ROOT / "docs/hub.md"
GROUPS = (30, 300, 3000)  # working at the same time
NODE_GIB, NODE_CORES = 64, 16  # a usual machine of a cluster
USABLE = 0.9  # of it: the rest is Kubernetes' own
ARRIVAL_MINUTES = 10  # in which all of a class come and run their first chapter
ACTIVITY_SECONDS = 300  # between two reports of a server to the hub
STEP_MIB = 128
CLUSTER = (
    "learners at once | nodes | price of an hour | cores to arrive | hub busy, minutes | "
    "reports to its database a second"
)


def guarantee() -> int:
    """Return the MiB to plan for a learner: the mean of the chapters, open and run."""
    return _up([one["rest MiB"] for one in measured.read()["chapters"].values()], mean=True)


def limit() -> int:
    """Return the MiB that a learner may take at most: the two largest chapters open at once."""
    peaks = sorted(one["peak MiB"] for one in measured.read()["chapters"].values())
    return _up(peaks[-2:])


def tables() -> dict[str, str]:
    """Return name -> table, in Markdown."""
    found = measured.read()
    kills = found["kills"].items()
    return {
        "machine": ", ".join(f"{name}: {value}" for name, value in found["machine"].items()),
        "learners": _table(measured.HEADINGS.split(" | "), map(_cells, found["runs"])),
        "chapters": _table(
            ["chapter", "MiB at rest", "MiB at its peak", "core seconds"],
            (
                [number, one["rest MiB"], one["peak MiB"], round(one["core seconds"]["learner"])]
                for number, one in found["chapters"].items()
            ),
        ),
        "kills": _table(
            ["killed", "lost", "back after s"],
            ([what, one["lost"] or "nothing", _seconds(one)] for what, one in kills),
        ),
        "plan": _table(["", "MiB"], [["guaranteed", guarantee()], ["limit", limit()]]),
        "cluster": _table(
            CLUSTER.split(" | "),
            map(_group, GROUPS),
        ),
    }


def write() -> None:
    """Put each table between its marks in docs/hub.md."""
    PAGE.write_text(placed(PAGE.read_text("utf-8")), "utf-8")


def placed(page: str) -> str:
    """Return a page with each table between its marks."""
    for name, table in tables().items():
        marks = re.compile(rf"(<!-- {name} -->\n)[^<]*(\n<!-- end -->)")
        page = marks.sub(lambda found, table=table: found[1] + table + found[2], page)
    return page


def _group(count: int) -> list:
    """Return the row of so many learners; P is the price of a node for an hour."""
    by_memory = USABLE * NODE_GIB * measured.MIB_PER_GIB / guarantee()
    nodes = math.ceil(count / by_memory)
    busy = [one["core seconds"] for one in measured.read()["chapters"].values()]
    each = {name: sum(one[name] for one in busy) / len(busy) for name in ("learner", "hub")}
    cores = math.ceil(count * each["learner"] / (60 * ARRIVAL_MINUTES))
    nodes = max(nodes, math.ceil(cores / (USABLE * NODE_CORES)))
    minutes, writes = count * each["hub"] / 60, count / ACTIVITY_SECONDS
    return [count, nodes, f"{nodes} P", cores, f"{minutes:.1f}", f"{writes:.1f}"]


def _cells(run: dict) -> list[str]:
    return measured.row(run).split(" | ")


def _seconds(one: dict) -> str:
    times = one["back after s"]
    return f"{max(times):.0f}" if len(times) == 1 else f"{min(times):.0f} to {max(times):.0f}"


def _up(numbers: list, mean: bool = False) -> int:
    total = sum(numbers) / (len(numbers) if mean else 1)
    return math.ceil(total / STEP_MIB) * STEP_MIB


def _table(headings, rows) -> str:
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)
