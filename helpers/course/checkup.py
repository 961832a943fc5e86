"""Check whether the course can run here, for `course.py check`: packages, memory, disk, programs.
The result is a row for each thing: (mark, what, text), such as ("ok", "numpy", "2.4.6"). A mark is
"ok", "note", "optional" or "MISSING". The rows for the Python and the environment come from
commands.py. Packages are imported in child processes, and compared with the pinned versions.
"""

import shutil
import sys
import time
from collections.abc import Callable, Iterator

from helpers.course import checkout
from helpers.course.terminal import report, say
from helpers.safety.package_files import BUILDS, normalize_name
from helpers.safety.package_trial import Trial, try_packages

Row = tuple[str, str, str]
OWN = "whoruns"  # the name of the course's own package, "-e ." in requirements.txt
# The packages that get a row in any case. Others get one only if something is wrong with them.
KEY_PACKAGES = """jupyterlab ipywidgets anywidget nbval networkx numpy bytecode
    torch tensorflow-cpu tensorflow"""
COMPILERS = ("cc", "gcc", "clang", "cl")
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
NOT_INSTALLED = ("MISSING", "packages", f"not installed: {checkout.REPAIR}")
SILENT = 3  # seconds after which a line is printed for each imported package


def check(rows: list[list[str]]) -> int:
    """Print all rows of the check; return 0 if the course can run here, else 1.

    `rows` are the rows for the Python and the environment.
    """
    is_broken = any(row[:2] == ["MISSING", "environment"] for row in rows)
    package_rows = [NOT_INSTALLED] if is_broken else list(packages())
    return report([*rows, *package_rows, *memory(), *machine()])


def packages() -> Iterator[Row]:
    """Yield a row for each key package, and for each other package that is broken.

    All packages of requirements.txt are imported, and each framework also runs an op. The files of
    all installed distributions are checked.
    """
    pins = read_versions("constraints.txt")
    names = [*read_versions("requirements.txt"), OWN]
    trial = try_packages(sys.executable, names, done=progress_lines(len(names)))
    # If another build is installed, such as tensorflow-cpu, then tensorflow is not missing.
    names = [name for name in names if name in trial.versions or not is_other_build(name, trial)]
    key_packages = [name for name in KEY_PACKAGES.split() if name in names]
    missing = [name for name in names if name not in trial.versions]
    # If most packages are missing, this Python is not one that the course was installed into. One
    # row is enough then.
    if len(missing) > len(names) / 2:
        yield NOT_INSTALLED
        return
    for name in key_packages:
        yield package(name, pins.get(name, set()), trial)
    for name in sorted({*trial.faults, *trial.consequences}.difference(key_packages)):
        if name in pins or name in names:
            yield package(name, set(), trial)
        else:
            yield "note", name, f"{trial.fault(name)}; the course does not need it"


def read_versions(file_name: str) -> dict[str, set[str]]:
    """Return distribution -> the versions that a requirements file of pip pins for this machine.

    A distribution that the file names without a version has the set {""}.
    """
    versions: dict[str, set[str]] = {}
    for line in (checkout.ROOT / file_name).read_text(encoding="utf-8").splitlines():
        # A line is "numpy==2.4.6; python_version > '3.11'  # a comment".
        requirement, _, marker = line.partition(" #")[0].partition(";")
        is_requirement = requirement.strip() and not requirement.startswith(("-", "#"))
        if is_requirement and applies(marker):
            name, _, version = requirement.replace("~=", "==").partition("==")
            versions.setdefault(normalize_name(name.strip()), set()).add(version.strip())
    return versions


def is_other_build(name: str, trial: Trial) -> bool:
    """Return whether another build of a package is installed, such as tensorflow-cpu."""
    return BUILDS.get(name) in trial.versions


def applies(marker: str) -> bool:
    """Return whether a requirement with this marker is for this machine; True if that is unknown.

    A marker is a condition such as "sys_platform == 'linux'"; "" is true on each machine.
    """
    try:
        from packaging.markers import Marker

        return not marker.strip() or Marker(marker).evaluate()
    except Exception:  # `packaging` is missing or broken, and gets a row of its own
        return True


def package(name: str, pinned: set[str], trial: Trial) -> Row:
    """Return the row for a package that the course needs.

    Parameters
    ----------
    name
        The name of the package.
    pinned
        The versions that fit the course; empty if any version does.
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
    """Return a function to call after the import of each of `total` packages.

    The function prints a line, but only after `SILENT` seconds, so that a quick check prints none.
    """
    start = time.monotonic()
    imported = []

    def count(name: str) -> None:
        """Count a package that was imported, and print a line if the check takes long."""
        imported.append(name)
        if time.monotonic() - start > SILENT:
            say(f"imported {len(imported):2} of {total} packages: {name}")

    return count


def memory() -> Iterator[Row]:
    """Yield the row for the memory; no row if the package psutil cannot read it."""
    try:
        import psutil

        size = psutil.virtual_memory()
    except Exception:  # psutil is missing or broken, and gets a row of its own
        return
    total = size.total / checkout.GIGABYTE
    free = size.available / checkout.GIGABYTE
    text = f"{total:.1f} GB, {free:.1f} GB free"
    if free > 2:
        yield "ok", "memory", text
    else:
        yield "note", "memory", f"{text}: an open notebook needs 1 GB, so close others"


def machine() -> Iterator[Row]:
    """Yield the rows for the disk, the C compiler and the browser. The last two are optional."""
    free = shutil.disk_usage(checkout.ROOT).free / checkout.GIGABYTE
    yield "ok" if free > 0.5 else "note", "disk", f"{free:.1f} GB free"
    yield program("C compiler", COMPILERS, "chapters 4 and 5 show more with one")
    yield program("Chromium", BROWSERS, "only the tests in a browser need one")


def program(kind: str, names: tuple[str, ...], use: str) -> Row:
    """Return the row for an optional program.

    `kind` is its kind, such as "C compiler", `names` are the commands to look for, and `use` says
    what the course uses it for.
    """
    for name in names:
        path = shutil.which(name)
        if path:
            return "ok", kind, f"{path} ({use})"
    return "optional", kind, f"not found ({use})"
