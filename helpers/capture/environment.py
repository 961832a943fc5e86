"""This machine -> a listing of what the course needs, what is here, and how to mend what is wrong.

The needed parts are Python, some packages, and memory. Each package is imported in another process.
So none of them is loaded into this one, and a package that crashes its interpreter gets a verdict
like any other.
"""

import sys
from dataclasses import dataclass

from ..model.code_records import build_columns
from ..model.tables import Listing
from ..safety import progress
from ..safety.missing_parts import (
    HAS_COURSE,
    find_installed_version,
    format_install_advice,
    list_distribution_names,
    read_pins,
)
from ..safety.package_trial import Trial, try_packages

PYTHONS = ((3, 11), (3, 12), (3, 13))
PACKAGES = ("jupyterlab", "ipywidgets", "anywidget", "numpy", "networkx", "tensorflow", "torch")
GIGABYTES = 4
FINE = "fine"


@dataclass(frozen=True)
class Part:
    """One thing that the course needs. An exported exhibit names this class, so the name stays.

    Attributes
    ----------
    name : str
        A package, "Python" or "memory".
    found : str
        The version or amount on this machine.
    needed : str
        The versions or the amount that the course needs.
    verdict : str
        "fine", or what is wrong and how to mend it.
    """

    name: str
    found: str
    needed: str
    verdict: str


def list_environment() -> Listing:
    """List what this course needs, what is installed, and how to get what is missing or broken."""
    trial = _try_installed_packages()
    parts = (
        _check_python(),
        *(_check_package(name, trial) for name in PACKAGES),
        _check_memory(),
    )

    to_fix = [part.name for part in parts if part.verdict != FINE]
    if to_fix:
        note = f"To fix: {', '.join(to_fix)}."
    elif HAS_COURSE:
        note = "This machine has all that the course needs."
    else:
        note = "All of these versions were tried."

    subject = "this course needs" if HAS_COURSE else "these instruments need"
    headings = {"name": "part", "found": "found", "needed": "needed", "verdict": "verdict"}
    return Listing(
        title=f"What {subject}, and what is here",
        columns=build_columns("found needed", **headings),  # these two columns are code
        rows=parts,
        note=note,
    )


def _check_python() -> Part:
    """Return the row on Python. It is fine if this version is one of `PYTHONS`."""
    needed = [f"{major}.{minor}" for major, minor in PYTHONS]
    version = sys.version_info[:2]
    if version in PYTHONS:
        verdict = FINE
    elif HAS_COURSE:
        verdict = f"delete .venv, run `python{needed[-1]} course.py lab`"
    else:
        verdict = "use one of these"
    return Part("Python", f"{version[0]}.{version[1]}", ", ".join(needed), verdict)


def _try_installed_packages() -> Trial:
    """Import each installed package of `PACKAGES` in another process, and show the progress.

    The Trial says for each package how its import failed, if it did.
    """
    names = [name for name in PACKAGES if find_installed_version(name)]
    tried_names: list[str] = []

    def report_end(name: str) -> None:
        """Show the progress. `try_packages` calls this when the import of a package has ended."""
        tried_names.append(name)
        progress.set_activity(
            f"imported {len(tried_names)} of {len(names)} packages, in other processes"
        )

    with progress.report_activity("importing packages in other processes"):
        return try_packages(sys.executable, names, only_named=True, done=report_end)


def _check_package(name: str, trial: Trial) -> Part:
    """Return the row on a package.

    It is fine if the package is installed, can be imported, and has a version that the course
    wants. `trial` has imported it.
    """
    from packaging.specifiers import SpecifierSet  # slow to import

    found = find_installed_version(name)  # its version, or ""
    specifier = _find_specifier(name)
    needed = specifier.removeprefix("==") or "any"
    if not found:
        return Part(name, "missing", needed, format_install_advice(name))

    # TensorFlow, for example, may be installed as the distribution tensorflow-cpu.
    faults = [trial.fault(distribution) for distribution in list_distribution_names(name)]
    fault = next(filter(None, faults), "")
    if fault:
        return Part(name, found, needed, f"{fault}: {format_install_advice(name, broken=True)}")
    if SpecifierSet(specifier).contains(found, prereleases=True):
        return Part(name, found, needed, FINE)
    return Part(name, found, needed, f"another version: {format_install_advice(name)}")


def _find_specifier(name: str) -> str:
    """Return the versions of a package that the course wants, such as "==2.1", or "" for any."""
    specifiers_by_distribution = read_pins()
    for distribution in list_distribution_names(name):
        if distribution in specifiers_by_distribution:
            return specifiers_by_distribution[distribution]
    return ""


def _check_memory() -> Part:
    """Return the row on memory. It is fine if the machine has GIGABYTES or more."""
    import psutil  # ipykernel brings it

    needed = f"{GIGABYTES} GB"
    if psutil.virtual_memory().total >= GIGABYTES * 10**9:
        return Part("memory", f"{needed} or more", needed, FINE)
    advice = "close other programs, and open one notebook at a time"
    return Part("memory", f"less than {needed}", needed, advice)
