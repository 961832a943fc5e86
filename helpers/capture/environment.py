"""This interpreter and what is installed -> a listing; a verdict that is not "fine" says a cure.

The packages are imported in other processes: here is no trace of it, and a crash is a verdict.
"""

import sys
from collections import namedtuple

from ..model.code_records import columns
from ..model.tables import Listing
from ..safety import progress
from ..safety.missing_parts import HAS_COURSE, distributions, installed, repair, wanted
from ..safety.package_trial import Trial, try_packages

PYTHONS = ((3, 11), (3, 12), (3, 13))
PACKAGES = ("jupyterlab", "ipywidgets", "anywidget", "numpy", "networkx", "tensorflow", "torch")
GIGABYTES = 4
# One thing that the course needs: what was found, what is needed, and a verdict in words.
Part = namedtuple("Part", "name found needed verdict")


def environment_listing() -> Listing:
    """List what this course needs, what is installed, and how to get what is missing or broken."""
    trial = _try_packages()
    parts = (_python(), *(_package(name, trial) for name in PACKAGES), _memory())
    amiss = [part.name for part in parts if part.verdict != "fine"]
    whose, fine = "these instruments need", "All of these versions were tried."
    if HAS_COURSE:
        whose, fine = "this course needs", "This machine has all that the course needs."
    note = f"To fix: {', '.join(amiss)}." if amiss else fine
    headings = {"name": "part", "found": "found", "needed": "needed", "verdict": "verdict"}
    shown = columns("found needed", **headings)
    return Listing(f"What {whose}, and what is here", shown, parts, note)


def _python() -> Part:
    works = ", ".join(f"{major}.{minor}" for major, minor in PYTHONS)
    found = f"{sys.version_info.major}.{sys.version_info.minor}"
    fine = sys.version_info[:2] in PYTHONS
    cure = f"delete .venv, run `python{works.rpartition(' ')[2]} course.py lab`"
    cure = cure if HAS_COURSE else "use one of these"
    return Part("Python", found, works, "fine" if fine else cure)


def _try_packages() -> Trial:
    names, ended = [name for name in PACKAGES if installed(name)], []

    def count(name: str) -> None:
        ended.append(name)
        progress.say(f"imported {len(ended)} of {len(names)} packages, in other processes")

    with progress.doing("importing packages in other processes"):
        return try_packages(sys.executable, names, only_named=True, done=count)


def _package(name: str, trial: Trial) -> Part:
    from packaging.specifiers import SpecifierSet

    found, ranges = installed(name), wanted()
    needed = next((ranges[one] for one in distributions(name) if one in ranges), "")
    fine = SpecifierSet(needed).contains(found or "0", prereleases=True)
    needed = needed.removeprefix("==") or "any"
    if not found:
        return Part(name, "missing", needed, repair(name))
    if fault := next(filter(None, map(trial.fault, distributions(name))), ""):
        return Part(name, found, needed, f"{fault}: {repair(name, broken=True)}")
    return Part(name, found, needed, "fine" if fine else f"another version: {repair(name)}")


def _memory() -> Part:
    import psutil  # ipykernel brings it

    enough = psutil.virtual_memory().total >= GIGABYTES * 10**9
    verdict = "fine" if enough else "close other programs, and open one notebook at a time"
    words = f"{GIGABYTES} GB or more" if enough else f"less than {GIGABYTES} GB"
    return Part("memory", words, f"{GIGABYTES} GB", verdict)
