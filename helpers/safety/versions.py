"""The pins of the course and what is installed -> versions, and where they differ."""

from functools import cache
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

CONSTRAINTS = Path(__file__).parents[2] / "constraints.txt"


class Versions(NamedTuple):
    """Two versions, without build labels."""

    found: str
    pinned: str


def pins() -> dict[str, str]:
    """Return package -> pinned version for this machine, empty where the pins are not at hand."""
    from packaging.requirements import Requirement

    try:
        lines = CONSTRAINTS.read_text(encoding="utf-8").splitlines()
    except OSError:
        return {}
    wanted = [Requirement(line) for line in lines if line and not line.startswith("#")]
    here = [one for one in wanted if one.marker is None or one.marker.evaluate()]
    return {one.name: str(one.specifier).removeprefix("==") for one in here}


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
