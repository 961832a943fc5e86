"""This Python and this machine -> a row for each thing that the course needs: (mark, what, text).

The rows of the Python and the environment come from course.py; here come the packages, which are
imported in children and compared with their pins, the memory, the disk, and what the course can do
without.
"""

import shutil
import sys
import time
from collections.abc import Callable, Iterator

from helpers.course import checkout
from helpers.course.terminal import report, say
from helpers.safety.package_files import BUILDS, canonical
from helpers.safety.package_trial import Trial, try_packages

Row = tuple[str, str, str]
OWN = "whoruns"  # what requirements.txt calls "-e ."
KEY_PACKAGES = """jupyterlab ipywidgets anywidget nbval networkx numpy bytecode
    torch tensorflow-cpu tensorflow"""
COMPILERS = ("cc", "gcc", "clang", "cl")
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
NOT_INSTALLED = ("MISSING", "packages", f"not installed: {checkout.REPAIR}")
SILENT = 3  # seconds after which each package that was imported gets a line


def check(rows: list[list[str]]) -> int:
    """Print the given rows and the others; return 0 if the course can run here."""
    is_broken = any(row[:2] == ["MISSING", "environment"] for row in rows)
    package_rows = [NOT_INSTALLED] if is_broken else list(packages())
    return report([*rows, *package_rows, *memory(), *machine()])


def packages() -> Iterator[Row]:
    """Yield a row for each key package, and for each other one that is broken.

    All that requirements.txt names is imported, each framework also runs an op, and the files of
    every distribution are looked at.
    """
    pins = read_versions("constraints.txt")
    names = [*read_versions("requirements.txt"), OWN]
    trial = try_packages(sys.executable, names, done=progress_lines(len(names)))
    # One of two builds is enough, such as tensorflow-cpu for tensorflow.
    names = [name for name in names if name in trial.versions or not is_other_build(name, trial)]
    keys = [name for name in KEY_PACKAGES.split() if name in names]
    missing = [name for name in names if name not in trial.versions]
    if len(missing) > len(names) / 2:  # what is here was not installed for the course
        yield NOT_INSTALLED
        return
    for name in keys:
        yield package(name, pins.get(name, set()), trial)
    for name in sorted({*trial.faults, *trial.consequences}.difference(keys)):
        if name in pins or name in names:
            yield package(name, set(), trial)
        else:
            yield "note", name, f"{trial.fault(name)}; the course does not need it"


def read_versions(file_name: str) -> dict[str, set[str]]:
    """Return distribution -> the versions that a pip file pins, for this machine."""
    versions: dict[str, set[str]] = {}
    for line in (checkout.ROOT / file_name).read_text(encoding="utf-8").splitlines():
        requirement, _, marker = line.partition(" #")[0].partition(";")
        is_requirement = requirement.strip() and not requirement.startswith(("-", "#"))
        if is_requirement and applies(marker):
            name, _, version = requirement.replace("~=", "==").partition("==")
            versions.setdefault(canonical(name.strip()), set()).add(version.strip())
    return versions


def is_other_build(name: str, trial: Trial) -> bool:
    """Return whether a package is installed as the build for another kind of machine."""
    return BUILDS.get(name) in trial.versions


def applies(marker: str) -> bool:
    """Tell whether a requirement with this marker is for this machine; True if unknown."""
    try:
        from packaging.markers import Marker

        return not marker.strip() or Marker(marker).evaluate()
    except Exception:  # packaging is missing or broken, and has a row of its own
        return True


def package(name: str, pinned: set[str], trial: Trial) -> Row:
    """Return the row for a package that the course needs.

    Parameters
    ----------
    name
        The name of the package.
    pinned
        The versions that fit the course; empty if each version does.
    trial
        What happened when the packages were imported in a child process.
    """
    fault = trial.fault(name)
    if fault:
        return "MISSING", name, f"{fault}: {checkout.REPAIR}"
    version = trial.versions.get(name, "")
    if not version:
        return "MISSING", name, f"is not installed: {checkout.REPAIR}"
    if not pinned or version.partition("+")[0] in pinned:
        return "ok", name, version
    return "note", name, f"{version}, pinned {' or '.join(sorted(pinned))}: {checkout.REPAIR}"


def progress_lines(total: int) -> Callable[[str], None]:
    """Return a function that counts packages and prints a line for each, once it takes long."""
    start = time.monotonic()
    names = []

    def count(name: str) -> None:
        """Count a package that was imported."""
        names.append(name)
        if time.monotonic() - start > SILENT:
            say(f"imported {len(names):2} of {total} packages: {name}")

    return count


def memory() -> Iterator[Row]:
    """Yield the row for the memory, where there is a psutil that can tell."""
    try:
        import psutil

        size = psutil.virtual_memory()
    except Exception:  # missing, or broken: it has a row of its own
        return
    total = size.total / checkout.GIGABYTE
    free = size.available / checkout.GIGABYTE
    text = f"{total:.1f} GB, {free:.1f} GB free"
    if free > 2:
        yield "ok", "memory", text
    else:
        yield "note", "memory", f"{text}: an open notebook needs 1 GB, so close others"


def machine() -> Iterator[Row]:
    """Yield the rows for disk, compiler and browser; the course can do without the last two."""
    free = shutil.disk_usage(checkout.ROOT).free / checkout.GIGABYTE
    yield "ok" if free > 0.5 else "note", "disk", f"{free:.1f} GB free"
    yield program("C compiler", COMPILERS, "chapters 4 and 5 show more with one")
    yield program("Chromium", BROWSERS, "only the tests in a browser need one")


def program(what: str, names: tuple[str, ...], use: str) -> Row:
    """Return the row for a program that the course can do without, by the names it may have."""
    for name in names:
        path = shutil.which(name)
        if path:
            return "ok", what, f"{path} ({use})"
    return "optional", what, f"not found ({use})"
