"""This interpreter and what is installed -> a listing with a verdict per part."""

import sys
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

from helpers.model.listing import Column, Listing

PYTHONS = ((3, 11), (3, 12), (3, 13))
PACKAGES = ("jupyterlab", "ipywidgets", "anywidget", "numpy", "networkx", "tensorflow", "torch")
GIGABYTES = 4
REPAIR = "run `python course.py setup`"


@dataclass(frozen=True)
class Part:
    """One thing that the course needs: what was found, what is needed, and a verdict in words."""

    name: str
    found: str
    needed: str
    verdict: str


def environment_listing() -> Listing:
    """Return Python, the pinned packages and the memory, each with a verdict."""
    parts = (_python(), *map(_package, PACKAGES), _memory())
    amiss = [part.name for part in parts if part.verdict != "fine"]
    note = f"To fix: {', '.join(amiss)}." if amiss else "Everything that the course needs is here."
    columns = (
        Column("name", "part"),
        Column("found", "found", code=True),
        Column("needed", "needed", code=True),
        Column("verdict", "verdict"),
    )
    return Listing("What this course needs, and what is here", columns, parts, note)


def pins() -> dict[str, str]:
    """Return package -> pinned version for this machine, empty where the pins are not at hand."""
    try:
        lines = (Path(__file__).parents[2] / "constraints.txt").read_text().splitlines()
    except OSError:
        return {}
    wanted = [Requirement(line) for line in lines if line and not line.startswith("#")]
    here = [one for one in wanted if one.marker is None or one.marker.evaluate()]
    return {one.name: str(one.specifier).removeprefix("==") for one in here}


def _python() -> Part:
    works = ", ".join(f"{major}.{minor}" for major, minor in PYTHONS)
    found = f"{sys.version_info.major}.{sys.version_info.minor}"
    fine = sys.version_info[:2] in PYTHONS
    return Part("Python", found, works, "fine" if fine else f"use one of {works}")


def _package(name: str) -> Part:
    installed = [name, f"{name}-cpu"] if name == "tensorflow" else [name]
    found = next(filter(None, map(_version, installed)), "")
    pinned = pins()
    needed = next((pinned[n] for n in reversed(installed) if n in pinned), "any")
    if not found:
        return Part(name, "missing", needed, REPAIR)
    fine = needed in ("any", found) or found in {pinned.get(n) for n in installed}
    return Part(name, found, needed, "fine" if fine else f"another version: {REPAIR}")


def _version(name: str) -> str:
    """Return the installed version without its build label (2.13.0+cpu is 2.13.0), or nothing."""
    try:
        return metadata.version(name).partition("+")[0]
    except metadata.PackageNotFoundError:
        return ""


def _memory() -> Part:
    import psutil  # ipykernel brings it

    enough = psutil.virtual_memory().total >= GIGABYTES * 10**9
    verdict = "fine" if enough else "close other programs, and one notebook before the next"
    words = f"{GIGABYTES} GB or more" if enough else f"less than {GIGABYTES} GB"
    return Part("memory", words, f"{GIGABYTES} GB", verdict)
