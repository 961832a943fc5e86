"""The pins of the course and what is installed -> versions, and where they differ.

The pins are the course's `constraints.txt`; where `helpers` was installed alone, those of its own
extras. A framework is pinned in both, since its private names are read.
"""

from functools import cache
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

COURSE = Path(__file__).parents[2]
CONSTRAINTS = COURSE / "constraints.txt"
PROJECT, EXTRAS = "who-runs-your-function", ("torch", "tensorflow", "lab")  # pyproject.toml


class Versions(NamedTuple):
    """Two versions, without build labels."""

    found: str
    pinned: str


def pins() -> dict[str, str]:
    """Return package -> pinned version for this machine, empty where the pins are not at hand."""
    exact = ((name, str(wanted)) for name, wanted in _wanted().items())
    return {name: wanted[2:] for name, wanted in exact if wanted.startswith("==")}


def _wanted() -> dict:
    """Return package -> what is wanted of it on this machine, as a `SpecifierSet`."""
    from packaging.requirements import Requirement

    wanted = (Requirement(line) for line in _lines() if line and not line.startswith("#"))
    return {
        one.name: one.specifier
        for one in wanted
        if one.marker is None or any(one.marker.evaluate({"extra": name}) for name in EXTRAS)
    }


def _lines() -> list[str]:
    try:
        return CONSTRAINTS.read_text(encoding="utf-8").splitlines()
    except OSError:
        pass
    try:
        return metadata.requires(PROJECT) or []
    except metadata.PackageNotFoundError:
        return []


def requirement(package: str) -> str:
    """Return what pip is to be told for this machine: `torch==2.13.0`, or the name alone."""
    try:
        wanted = _wanted()
    except ImportError:  # `packaging` may be what is missing
        return package
    name = next((one for one in distributions(package) if one in wanted), package)
    return f"{name}{wanted.get(name, '')}"


def has_course() -> bool:
    """Return whether these helpers stand in a clone of the course, beside its `course.py`."""
    return (COURSE / "course.py").is_file()


def distributions(package: str) -> tuple[str, ...]:
    """Return the names under which a package may be installed."""
    return (package, f"{package}-cpu") if package == "tensorflow" else (package,)


def installed(package: str) -> str:
    """Return its version without its build label (2.13.0+cpu is 2.13.0), or nothing."""
    for name in distributions(package):
        try:
            return metadata.version(name).partition("+")[0]
        except metadata.PackageNotFoundError:
            continue
    return ""


@cache
def another_version(package: str) -> Versions | None:
    """Return both versions if the first two numbers differ; None if they agree, or one is unknown.

    An installation does not change under a running kernel, so they are read once.
    """
    known = pins()
    pinned = next((known[name] for name in distributions(package) if name in known), "")
    found = installed(package)
    differ = found and pinned and found.split(".")[:2] != pinned.split(".")[:2]
    return Versions(found, pinned) if differ else None
