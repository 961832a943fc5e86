"""What runs and kills gave <-> hub/measured.json, and a line of a table for each run."""

import json
import os
import platform

import psutil

from hub.trial.environment import HUB

FILE = HUB / "measured.json"
MIB_PER_GIB = 1024
HEADINGS = (
    "learners | load before | server s | first output s | all cells s | MiB each at rest | "
    "learners per GiB | faults | kept"
)


def row(run: dict) -> str:
    """Return a run as a line of a table; times are median / most."""
    times = [_times(run[kind]) for kind in ("server", "first output", "all cells")]
    kept = f"{run['kept']} of {run['learners']}"
    parts = [
        run["learners"],
        run["load before"],
        *times,
        each(run),
        per_gib(run),
        len(run["faults"]),
        kept,
    ]
    return " | ".join(map(str, parts))


def each(run: dict) -> int:
    """Return the MiB of a learner whose chapter is open and has run."""
    return round(run["rest MiB"] / run["learners"])


def per_gib(run: dict) -> float:
    """Return how many such learners a GiB holds."""
    return round(MIB_PER_GIB * run["learners"] / run["rest MiB"], 1)


def read() -> dict:
    """Return what was recorded; empty where nothing was."""
    return json.loads(FILE.read_text("utf-8")) if FILE.exists() else {}


def record(**parts) -> None:
    """Keep parts of a measurement beside those that are there, with the machine."""
    machine = {
        "cores": os.cpu_count(),
        "GiB": round(psutil.virtual_memory().total / 2**30),
        "Python": platform.python_version(),
    }
    whole = {**read(), "machine": machine, **parts}
    FILE.write_text(json.dumps(whole, indent=1, ensure_ascii=False) + "\n", "utf-8")


def _times(spread: dict) -> str:
    return f"{spread['median']} / {spread['most']}" if spread else "-"
