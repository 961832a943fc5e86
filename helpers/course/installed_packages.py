"""The packages of an environment: which are broken, which are the learner's, and their repair."""

import json
import re
import shutil
from pathlib import Path

from helpers.course import checkout, stamp
from helpers.course.install_failures import NO_NETWORK
from helpers.course.installing import Installer
from helpers.course.terminal import DISK_FULL, CommandRefused, say
from helpers.safety import package_files, package_trial

COURSE_PACKAGE = "whoruns"  # what an install of the checkout itself is called
PACKAGES = "course-packages.json"  # what the course installed; the rest is the learner's


def is_broken(folder: Path) -> bool:
    """Try each package of an environment; say which are broken, and return whether any is."""
    say("Trying each package")
    faults = faults_of(folder)
    for name, fault in faults.items():
        say(f"{name} is broken: {fault}")
    if not faults:
        say("All packages work.")
    return bool(faults)


def faults_of(folder: Path) -> dict[str, str]:
    """Return name of a package -> what is wrong with it, for each package that does not work."""
    python = folder / checkout.PYTHON_INSIDE
    return package_trial.faults(python, required_pins(), env=checkout.start_environment())


def required_pins() -> list[str]:
    """Return the packages that requirements.txt lists, as name==version where one pin is known."""
    pins: dict[str, list[str]] = {}
    for line in stamp.requirement_lines(checkout.ROOT / "constraints.txt"):
        name, _, version = line.partition(";")[0].strip().partition("==")
        pins.setdefault(normalized(name), []).append(version)
    found = []
    for name in required_names():
        versions = pins.get(name, [])
        found.append(f"{name}=={versions[0]}" if len(versions) == 1 else name)
    return found


def required_names() -> list[str]:
    """Return the names of the packages that requirements.txt lists."""
    names = []
    for line in stamp.requirement_lines(checkout.ROOT / "requirements.txt"):
        found = re.match(r"[A-Za-z0-9._-]+", line)
        if found and not line.startswith("-"):
            names.append(normalized(found[0]))
    return names


def normalized(name: str) -> str:
    """Return the one form of a package's name (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def site_packages(folder: Path) -> list[Path]:
    """Return the folders of an environment that packages are in."""
    return [*folder.glob("lib/python3.*/site-packages"), *folder.glob("Lib/site-packages")]


def forget_incomplete(folder: Path) -> None:
    """Let the installer see packages that were only half installed as not installed."""
    for site in site_packages(folder):
        for dist_info in package_files.incomplete(site):
            shutil.rmtree(dist_info, ignore_errors=True)


def repair_packages(installer: Installer) -> None:
    """Try each package, and install the broken ones once more, past every cache.

    Raise CommandRefused if one is still broken then.
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
    """Return name -> the requirement that installs it as it is, for each package but the course.

    Parameters
    ----------
    python : Path or None
        The Python that looks, where that of `folder` may not start any more.
    """
    python = python or folder / checkout.PYTHON_INSIDE
    command = [python, "-m", "pip", "freeze", "--all"]
    for site in site_packages(folder):
        command += ["--path", site]
    printed = checkout.ask(command) or ""

    lines_by_name = {}
    commented_name = ""
    for line in printed.splitlines():
        if line.startswith("#"):  # says of which package the next line is
            commented_name = "".join(re.findall(r"\(([A-Za-z0-9._-]+)==", line))
            continue
        name = normalized(_find_name(line) or commented_name or line)
        if name != COURSE_PACKAGE:
            lines_by_name[name] = line
        commented_name = ""
    return lines_by_name


def _find_name(line: str) -> str | None:
    """Return the name in a line of `pip freeze`: `a==1`, `a @ …`, `-e …#egg=a`; None if no such."""
    found = re.match(r"([A-Za-z0-9._-]+)(==| @ )|-e .*[#&]egg=([A-Za-z0-9._-]+)", line)
    if found is None:
        return None
    return found[1] or found[3]


def remember_installed(folder: Path, theirs: dict[str, str]) -> None:
    """Write down which packages the course installed; `theirs` are the learner's."""
    names = sorted(set(frozen(folder)) - set(theirs))
    (folder / PACKAGES).write_text(json.dumps(names, indent=1) + "\n", "utf-8")


def known_packages(folder: Path) -> list[str]:
    """Return the names of what the course installed; [] where an older course.py made it."""
    try:
        names = json.loads((folder / PACKAGES).read_text("utf-8"))
    except (OSError, ValueError):
        return []
    return names if isinstance(names, list) else []


def learners_packages(python: Path) -> dict[str, str]:
    """Return name -> requirement of what the learner had installed into .venv; `python` looks."""
    known = known_packages(checkout.VENV)
    if not known:
        return {}
    own_names = {*known, *required_names()}
    installed = frozen(checkout.VENV, python)
    return {name: line for name, line in installed.items() if name not in own_names}


def keep_packages(installer: Installer, theirs: dict[str, str]) -> None:
    """Install what the learner had installed; say which packages could not be kept.

    `theirs` is name -> requirement. Raise CommandRefused if only a network or room on the disk is
    missing, and the earlier environment works: the update can wait.
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
