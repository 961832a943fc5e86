"""This interpreter and what is installed -> a listing; a verdict that is not "fine" says a cure."""

import sys
from collections import namedtuple

from helpers.model.code_records import columns
from helpers.model.tables import Listing
from helpers.safety.missing_parts import distributions, installed, pins, repair

PYTHONS = ((3, 11), (3, 12), (3, 13))
PACKAGES = ("jupyterlab", "ipywidgets", "anywidget", "numpy", "networkx", "tensorflow", "torch")
GIGABYTES = 4
# One thing that the course needs: what was found, what is needed, and a verdict in words.
Part = namedtuple("Part", "name found needed verdict")


def environment_listing() -> Listing:
    """List what this course needs, what is installed, and what to do where something is missing."""
    parts = (_python(), *map(_package, PACKAGES), _memory())
    amiss = [part.name for part in parts if part.verdict != "fine"]
    note = f"To fix: {', '.join(amiss)}." if amiss else "Each of these is as the course needs it."
    headings = {"name": "part", "found": "found", "needed": "needed", "verdict": "verdict"}
    shown = columns("found needed", **headings)
    return Listing("What this course needs, and what is here", shown, parts, note)


def _python() -> Part:
    works = ", ".join(f"{major}.{minor}" for major, minor in PYTHONS)
    found = f"{sys.version_info.major}.{sys.version_info.minor}"
    fine = sys.version_info[:2] in PYTHONS
    cure = f"delete .venv, run `python{works.rpartition(' ')[2]} course.py lab`"
    return Part("Python", found, works, "fine" if fine else cure)


def _package(name: str) -> Part:
    found, pinned = installed(name), pins()
    needed = next((pinned[one] for one in distributions(name) if one in pinned), "any")
    if not found:
        return Part(name, "missing", needed, repair(name))
    fine = needed in ("any", found)
    return Part(name, found, needed, "fine" if fine else f"another version: {repair(name)}")


def _memory() -> Part:
    import psutil  # ipykernel brings it

    enough = psutil.virtual_memory().total >= GIGABYTES * 10**9
    verdict = "fine" if enough else "close other programs, and one notebook before the next"
    words = f"{GIGABYTES} GB or more" if enough else f"less than {GIGABYTES} GB"
    return Part("memory", words, f"{GIGABYTES} GB", verdict)
