"""Find and repair broken packages of an environment, and keep packages that a learner installed.
An environment is a folder such as .venv. A package that a learner has installed into it is
installed again into the environment that replaces it.
"""

import json
import re
import shutil
from pathlib import Path

from helpers.course import checkout, stamp
from helpers.course.install_failures import NO_NETWORK
from helpers.course.installing import Installer
from helpers.course.terminal import DISK_FULL, CommandRefused, say
from helpers.safety import package_files, package_trial

COURSE_PACKAGE = "whoruns"  # the name of the course's own package
# The file in an environment that lists the packages that the course installed. Any other package
# is the learner's.
PACKAGES = "course-packages.json"


def is_broken(folder: Path) -> bool:
    """Try each package of an environment, print which are broken, and return whether any is."""
    say("Trying each package")
    faults = faults_of(folder)
    for name, fault in faults.items():
        say(f"{name} is broken: {fault}")
    if not faults:
        say("All packages work.")
    return bool(faults)


def faults_of(folder: Path) -> dict[str, str]:
    """Return package -> what is wrong with it, for each broken package of an environment."""
    python = folder / checkout.PYTHON_INSIDE
    return package_trial.find_faults(python, required_pins(), env=checkout.start_environment())


def required_pins() -> list[str]:
    """Return the packages of requirements.txt with their pins, such as "numpy==2.4.6".

    A package has no pin in the result if constraints.txt has none, or several for several systems.
    """
    versions_by_name: dict[str, list[str]] = {}
    for line in stamp.requirement_lines(checkout.ROOT / "constraints.txt"):
        name, _, version = line.partition(";")[0].strip().partition("==")
        versions_by_name.setdefault(normalized(name), []).append(version)
    requirements = []
    for name in required_names():
        versions = versions_by_name.get(name, [])
        requirements.append(f"{name}=={versions[0]}" if len(versions) == 1 else name)
    return requirements


def required_names() -> list[str]:
    """Return the names of the packages that requirements.txt lists."""
    names = []
    for line in stamp.requirement_lines(checkout.ROOT / "requirements.txt"):
        match = re.match(r"[A-Za-z0-9._-]+", line)
        if match and not line.startswith("-"):  # a line such as "-e ." names no package
            names.append(normalized(match[0]))
    return names


def normalized(name: str) -> str:
    """Return the normal form of a package's name (PEP 503): "Import_Linter" -> "import-linter"."""
    return re.sub(r"[-_.]+", "-", name).lower()


def site_packages(folder: Path) -> list[Path]:
    """Return the folders site-packages of an environment, on POSIX or Windows."""
    return [*folder.glob("lib/python3.*/site-packages"), *folder.glob("Lib/site-packages")]


def forget_incomplete(folder: Path) -> None:
    """Make the installer install half-installed packages again, by removing their .dist-info."""
    for site in site_packages(folder):
        for dist_info in package_files.find_incomplete_installs(site):
            shutil.rmtree(dist_info, ignore_errors=True)


def repair_packages(installer: Installer) -> None:
    """Try each package, and download and install the broken ones once more.

    Raise CommandRefused if a package is still broken after that.
    """
    say("      Trying each package")
    faults = faults_of(installer.folder)
    if faults:
        say(f"      Once more: {', '.join(faults)}")
        lines = [line for name, line in frozen(installer.folder).items() if name in faults]
        installer.install("--no-cache", "--force-reinstall", "--no-deps", *lines)
        faults = faults_of(installer.folder)
    if faults:
        name, fault = next(iter(faults.items()))
        raise CommandRefused(f"The new environment does not work ({name}: {fault}).")


def frozen(folder: Path, python: Path | None = None) -> dict[str, str]:
    """Return package -> the line of `pip freeze` for it, such as "numpy==2.4.6".

    The course's own package is left out.

    Parameters
    ----------
    folder : Path
        The environment.
    python : Path or None
        The Python that runs pip; by default that of the environment, which may not start any more.
    """
    python = python or folder / checkout.PYTHON_INSIDE
    command = [python, "-m", "pip", "freeze", "--all"]
    for site in site_packages(folder):
        command += ["--path", site]
    printed = checkout.ask(command) or ""

    lines_by_name = {}
    # pip prints a comment before a line without a name: "# Editable install … (name==1.0)".
    commented_name = ""
    for line in printed.splitlines():
        if line.startswith("#"):
            commented_name = "".join(re.findall(r"\(([A-Za-z0-9._-]+)==", line))
            continue
        name = normalized(_find_name(line) or commented_name or line)
        if name != COURSE_PACKAGE:
            lines_by_name[name] = line
        commented_name = ""
    return lines_by_name


def _find_name(line: str) -> str | None:
    """Return the name in a line of `pip freeze`: "a==1", "a @ …" or "-e …#egg=a"; None if none."""
    match = re.match(r"([A-Za-z0-9._-]+)(==| @ )|-e .*[#&]egg=([A-Za-z0-9._-]+)", line)
    if match is None:
        return None
    return match[1] or match[3]


def remember_installed(folder: Path, theirs: dict[str, str]) -> None:
    """Write the names of the packages that the course installed to the file `PACKAGES`.

    Those are all packages of the environment `folder` but the learner's, whose names are the keys
    of `theirs`.
    """
    names = sorted(set(frozen(folder)) - set(theirs))
    (folder / PACKAGES).write_text(json.dumps(names, indent=1) + "\n", "utf-8")


def known_packages(folder: Path) -> list[str]:
    """Return the names of the packages that the course installed into an environment.

    Return [] if that is unknown, because an older version of the course made the environment.
    """
    try:
        names = json.loads((folder / PACKAGES).read_text("utf-8"))
    except (OSError, ValueError):
        return []
    return names if isinstance(names, list) else []


def learners_packages(python: Path) -> dict[str, str]:
    """Return package -> line of `pip freeze`, for the packages that the learner put into .venv.

    `python` is the Python that runs pip. Return {} if it is unknown what the course installed.
    """
    installed_by_course = known_packages(checkout.VENV)
    if not installed_by_course:
        return {}
    course_names = {*installed_by_course, *required_names()}
    installed = frozen(checkout.VENV, python)
    return {name: line for name, line in installed.items() if name not in course_names}


def keep_packages(installer: Installer, theirs: dict[str, str]) -> None:
    """Install the learner's packages into the new environment; print which could not be installed.

    `theirs` is package -> line of `pip freeze`. If there is no network or no room on the disk, and
    the earlier environment works, raise CommandRefused, because the update can wait.
    """
    installed = frozen(installer.folder)
    missing = {name: line for name, line in theirs.items() if name not in installed}
    if not missing:
        return
    try:
        installer.install(*missing.values(), "-c", "constraints.txt")
        say(f"      Kept what you had installed: {', '.join(missing)}")
    except CommandRefused as refusal:
        if str(refusal) in (NO_NETWORK, DISK_FULL) and stamp.still_works(checkout.VENV):
            raise
        say(f"      Not installed again, though you had them: {', '.join(missing.values())}")
        say(f"      The reason: {refusal}")
