"""The life of .venv: it is made beside the old one, tried, and swapped in by a rename.

    .venv           the environment that works; nothing writes into it
    .vnew           the next one while it is made; an interrupted start leaves it, the next goes on
    .course-trash   what is on its way out: moved here by a rename, then removed

An environment says in its stamp what it is. The stamp is "unfinished" until every package was
imported; then it is the fingerprint of all that decides what is installed. So at every moment .venv
is whole or not there, and an interrupted start costs nothing but its last step.
"""

import contextlib
import hashlib
import importlib.util
import json
import os
import re
import shutil
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

from helpers.course import checkout
from helpers.course.checkout import GIGABYTE, dotted, refuse_foreign, version_of
from helpers.course.installing import NO_NETWORK, Installer, wanted_installer
from helpers.course.terminal import DISK_FULL, Refusal, explain_os_error, say, stopping_signals
from helpers.safety import package_trial
from helpers.safety.folders import MARKER, made_again

COURSE_PACKAGE = "whoruns"  # what an install of the checkout itself is called
STAMP = "course-stamp.txt"
FRESH_STAMP = "course-stamp.new"  # a stamp that is being written
UNFINISHED = "unfinished"
PACKAGES = "course-packages.json"  # what the course installed; the rest is the learner's
COPIED = ("package/build.py", "share")  # what an install copies, or decides what it copies
# Parts of pyproject.toml that decide what an install does; a lint setting is none.
DECIDING = (
    ("build-system",),
    ("project", "name"),
    ("project", "requires-python"),
    ("project", "dependencies"),
    ("project", "scripts"),
    ("project", "entry-points"),
    ("tool", "hatch"),
)
# What venv, uv and the course put into an environment and list nowhere.
MADE_BY_TOOLS = re.compile(
    r"(\.gitignore|\.lock|CACHEDIR\.TAG|lib64|pyvenv\.cfg|course-[\w.-]+)$"
    r"|(bin|Scripts)[/\\](python|pip|activate|Activate|deactivate|easy_install)[\w.-]*$"
    r"|.*\.(pyc|pth|virtualenv)$"
)
# On Linux, installed and downloaded: with the CPU build of PyTorch, and with CUDA.
GIGABYTES_NEEDED = {"cpu": 4, "cuda": 9}
LARGEST_SCRIPT = 1 << 20  # bytes; programs that name their environment are smaller


def set_up(repair: bool = False) -> None:
    """Make .venv what the requirements ask for, or go on with the one that works.

    Parameters
    ----------
    repair : bool
        Try each package of a .venv that is up to date, and make it anew if one is broken.

    Raises
    ------
    Refusal
        There is no environment that works, and none could be made. One sentence says why.
    """
    wanted_installer()
    if is_current(checkout.VENV) and not repair:
        return
    with stopping_signals(), installing_alone() as lock:
        if is_current(checkout.VENV) and not (repair and is_broken(checkout.VENV)):
            return
        for folder in (checkout.VENV, checkout.NEW):
            refuse_unmade(folder)
        if checkout.VENV.is_dir():
            empty_trash()
        try:
            if not is_current(checkout.NEW):
                build(lock)
            swap()
        except (Refusal, OSError) as error:
            why = explain_os_error(error) if isinstance(error, OSError) else str(error)
            if why == DISK_FULL:
                discard(checkout.NEW)
            if repair or not still_works(checkout.VENV):
                raise
            say(f"The packages were not updated. {why}")
            say("Until then the course runs with the packages that it had.")
            return
        empty_trash()
        say("[3/3] Ready")


# -- what an environment is ------------------------------------------------------------------------


def fingerprint(version: tuple[int, int]) -> str:
    """Return a hash of what decides about an environment: its Python, its place, dependencies."""
    root = checkout.ROOT
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))
    decided = {"python": dotted(version), "place": str(root)}
    decided["requirements"] = requirement_lines(root / "requirements.txt")
    decided["pins"] = requirement_lines(root / "constraints.txt")
    for keys in DECIDING:
        decided[".".join(keys)] = value_at(project, keys)
    for name in COPIED:
        for path in files_under(root / name):
            inside = path.relative_to(root).as_posix()
            decided[inside] = hashlib.sha256(path.read_bytes()).hexdigest()
    return hashlib.sha256(json.dumps(decided, sort_keys=True).encode()).hexdigest()


def requirement_lines(path: Path) -> list[str]:
    """Return the requirements of a pip file, without comments."""
    text = re.sub(r"(^|\s)#.*", "", path.read_text("utf-8"), flags=re.MULTILINE)
    return [line.strip() for line in text.splitlines() if line.strip()]


def value_at(table: dict, keys: tuple[str, ...]):
    """Return what stands under these keys, one inside the other, or None."""
    for key in keys:
        table = table.get(key) if isinstance(table, dict) else None
    return table


def files_under(place: Path) -> list[Path]:
    """Return a file itself, or all files of a folder, in order."""
    if place.is_file():
        return [place]
    return sorted(path for path in place.rglob("*") if path.is_file())


def read_stamp(folder: Path) -> str:
    """Return what an environment says it is; "" where there is no stamp."""
    try:
        return (folder / STAMP).read_text("ascii").strip()
    except (OSError, ValueError):
        return ""


def write_stamp(folder: Path, text: str) -> None:
    """Write the stamp in one step: it is there whole or not at all."""
    fresh = folder / FRESH_STAMP
    fresh.unlink(missing_ok=True)  # left by a start that was killed
    with open(fresh, "x", encoding="ascii") as file:
        file.write(text + "\n")
    os.replace(fresh, folder / STAMP)


def is_current(folder: Path) -> bool:
    """Return whether an environment is finished and has what is required today."""
    stamp = read_stamp(folder)
    if not re.fullmatch("[0-9a-f]{64}", stamp):
        return False
    version = version_of([folder / checkout.PYTHON_INSIDE])
    return version is not None and stamp == fingerprint(version)


def still_works(folder: Path) -> bool:
    """Return whether an environment was finished once, and starts, and runs this very course."""
    if not re.fullmatch("[0-9a-f]{64}", read_stamp(folder)):
        return False
    python = folder / checkout.PYTHON_INSIDE
    code = "import helpers, os; print(os.path.dirname(helpers.__file__))"
    found = checkout.ask([python, "-c", f"import os; os.chdir(os.sep); {code}"])
    version = version_of([python])
    return version in checkout.SUPPORTED and found == str(checkout.ROOT / "helpers")


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
    for line in requirement_lines(checkout.ROOT / "constraints.txt"):
        name, _, version = line.partition(";")[0].strip().partition("==")
        pins.setdefault(normalized(name), []).append(version)
    found = []
    for name in required_names():
        versions = pins.get(name, [])
        found.append(f"{name}=={versions[0]}" if len(versions) == 1 else name)
    return found


def required_names() -> list[str]:
    """Return the names of the packages that requirements.txt lists."""
    lines = requirement_lines(checkout.ROOT / "requirements.txt")
    names = (re.match(r"[A-Za-z0-9._-]+", line) for line in lines if not line.startswith("-"))
    return [normalized(found[0]) for found in names if found]


def normalized(name: str) -> str:
    """Return the one form of a package's name (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


# -- making one ------------------------------------------------------------------------------------


def build(lock: int | None) -> None:
    """Make .vnew, from nothing or from where the last start was interrupted, and try it.

    Raises
    ------
    Refusal
        One sentence that says why it could not be made.
    """
    refuse_full_disk()
    python = base_python()
    installer = Installer(checkout.NEW, lock)
    if can_go_on(checkout.NEW, python):
        say("[1/3] Environment: going on where the last start stopped")
        forget_incomplete(checkout.NEW)
    else:
        discard(checkout.NEW)
        make_venv(checkout.NEW, python)
        say(f"[1/3] Environment: Python {dotted(version_of([python]))}")
    say("[2/3] Installing packages: the first time, a gigabyte is downloaded")
    installer.install("-r", "requirements.txt", "-c", "constraints.txt")
    repair_packages(installer)
    theirs = learners_packages(installer.python)
    remember_installed(checkout.NEW, theirs)
    keep_packages(installer, theirs)
    name_final_place(checkout.NEW)
    write_stamp(checkout.NEW, fingerprint(version_of([installer.python])))


def base_python() -> str:
    """Return the Python to make an environment with: that of .venv, else the one that runs this."""
    code = "import sys; print(getattr(sys, '_base_executable', None) or sys.executable)"
    found = checkout.ask([checkout.PYTHON, "-c", code])
    if found and version_of([found]) in checkout.SUPPORTED:
        return found
    return getattr(sys, "_base_executable", None) or sys.executable


def can_go_on(folder: Path, python: str) -> bool:
    """Return whether an install that was interrupted can go on in this folder."""
    begun = read_stamp(folder) == f"{UNFINISHED} {fingerprint(version_of([python]))}"
    inside = [folder / checkout.PYTHON_INSIDE]
    return begun and version_of(inside) == version_of([python]) and has_pip(inside)


def has_pip(python: list) -> bool:
    """Return whether a Python has pip."""
    return checkout.ask([*python, "-m", "pip", "--version"]) is not None


def make_venv(folder: Path, python: str) -> None:
    """Make an environment with pip in it; the stamp says that it is unfinished."""
    if not (importlib.util.find_spec("venv") and importlib.util.find_spec("ensurepip")):
        raise Refusal(
            "This Python has no venv module, which Debian and Ubuntu put in a separate package: "
            f"`sudo apt install python{dotted(sys.version_info[:2])}-venv`, then run this again."
        )
    refuse_foreign(folder)
    folder.mkdir()
    write_stamp(folder, UNFINISHED)
    run_venv(folder, python)
    write_stamp(folder, f"{UNFINISHED} {fingerprint(version_of([python]))}")


def run_venv(folder: Path, python: str) -> None:
    """Make an environment with pip in it; shells that activate it will show `(.venv)`."""
    command = [python, "-m", "venv", "--prompt", checkout.VENV.name, folder]
    if checkout.ask(command, timeout=600) is None:
        raise Refusal(f"`{python} -m venv {folder.name}` failed: run it to see why.")


def forget_incomplete(folder: Path) -> None:
    """Let the installer see packages that were only half installed as not installed."""
    for site in site_packages(folder):
        for dist_info in package_trial.incomplete(site):
            shutil.rmtree(dist_info, ignore_errors=True)


def site_packages(folder: Path) -> list[Path]:
    """Return the folders of an environment that packages are in."""
    return [*folder.glob("lib/python3.*/site-packages"), *folder.glob("Lib/site-packages")]


def repair_packages(installer: Installer) -> None:
    """Try each package; install the broken ones once more, past every cache; Refusal if in vain."""
    say("      Trying each package")
    faults = faults_of(installer.folder)
    if faults:
        say(f"      Once more: {', '.join(faults)}")
        lines = [line for name, line in frozen(installer.folder).items() if name in faults]
        installer.install("--no-cache", "--force-reinstall", "--no-deps", *lines)
        faults = faults_of(installer.folder)
    if faults:
        name, fault = next(iter(faults.items()))
        raise Refusal(f"The new environment does not work ({name}: {fault}).")


def frozen(folder: Path, python: Path | None = None) -> dict[str, str]:
    """Return name -> the requirement that installs it as it is, for each package but the course.

    Parameters
    ----------
    python : Path or None
        The Python that looks, where that of `folder` may not start any more.
    """
    looking = python or folder / checkout.PYTHON_INSIDE
    paths = [word for site in site_packages(folder) for word in ("--path", site)]
    printed = checkout.ask([looking, "-m", "pip", "freeze", "--all", *paths]) or ""
    found, commented = {}, ""
    for line in printed.splitlines():
        named = re.match(r"([A-Za-z0-9._-]+)(==| @ )|-e .*[#&]egg=([A-Za-z0-9._-]+)", line)
        if line.startswith("#"):  # says of which package the next line is
            commented = "".join(re.findall(r"\(([A-Za-z0-9._-]+)==", line))
            continue
        name = normalized((named and (named[1] or named[3])) or commented or line)
        if name != COURSE_PACKAGE:
            found[name] = line
        commented = ""
    return found


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
    ours = {*known, *required_names()}
    return {name: line for name, line in frozen(checkout.VENV, python).items() if name not in ours}


def keep_packages(installer: Installer, theirs: dict[str, str]) -> None:
    """Install what the learner had installed; say which packages could not be kept.

    Refusal where only a network or room on the disk is missing: the update can wait for it.
    """
    there = frozen(installer.folder)
    missing = {name: line for name, line in theirs.items() if name not in there}
    if not missing:
        return
    try:
        installer.install(*missing.values(), "-c", "constraints.txt")
        say(f"      Kept what you had installed: {', '.join(missing)}")
    except Refusal as refusal:
        if str(refusal) in (NO_NETWORK, DISK_FULL) and still_works(checkout.VENV):
            raise
        say(f"      Not installed again, though you had them: {', '.join(missing.values())}")
        say(f"      The reason: {refusal}")


def name_final_place(folder: Path) -> None:
    """Let the programs of an environment name .venv, where the environment will be.

    Both paths have the same length, so programs that are no text stay whole. A file is written
    anew, because an installer may share it with its cache.
    """
    old, new = os.fsencode(folder), os.fsencode(checkout.VENV)
    programs = folder / checkout.PYTHON_INSIDE.parent
    for path in [folder / "pyvenv.cfg", *sorted(programs.iterdir())]:
        if path.is_symlink() or not path.is_file() or path.stat().st_size > LARGEST_SCRIPT:
            continue
        data = path.read_bytes()
        if old in data:
            fresh = path.with_name(path.name + ".new")
            fresh.write_bytes(data.replace(old, new))
            shutil.copymode(path, fresh)
            os.replace(fresh, path)


def refuse_full_disk() -> None:
    """Refuse to start an install that the disk has no room for."""
    free = shutil.disk_usage(checkout.ROOT).free / GIGABYTE
    kind = "cpu" if cpu_build_offered() else "cuda"
    need = GIGABYTES_NEEDED[kind]
    if checkout.VENV.is_dir():  # what its packages share with an installer's cache is there already
        need = 1 + size_of(checkout.VENV) / GIGABYTE
    need = max(need - size_of(checkout.NEW) / GIGABYTE, 1)
    if free < need:
        smaller = " (4 GB without CUDA, see docs/installing.md)" if kind == "cuda" else ""
        raise Refusal(
            f"The disk is too full: {free:.1f} GB are free, but the install needs about "
            f"{need:.0f} GB{smaller}; free some space and run the same command again."
        )


def cpu_build_offered() -> bool:
    """Guess whether PyTorch comes without CUDA: on Linux only if another index may have that."""
    names = ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS")
    names += ("UV_DEFAULT_INDEX", "UV_INDEX", "UV_FIND_LINKS")
    return not sys.platform.startswith("linux") or any(os.environ.get(name) for name in names)


def size_of(folder: Path) -> int:
    """Return the bytes of all files of a folder that no other folder shares."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                status = os.lstat(os.path.join(place, name))
                total += status.st_size if status.st_nlink == 1 else 0
    return total


# -- swapping it in, and removing the old one ------------------------------------------------------


def swap() -> None:
    """Put .vnew in the place of .venv. Interrupted between both renames, the next start goes on."""
    if os.path.lexists(checkout.VENV):
        move_to_trash(checkout.VENV)
    os.rename(checkout.NEW, checkout.VENV)


def discard(folder: Path) -> None:
    """Remove an environment that the course made: first by a rename, then file by file."""
    if os.path.lexists(folder):
        move_to_trash(folder)
        empty_trash()


def move_to_trash(folder: Path) -> None:
    """Move an environment of the course away; Refusal of anything that it did not make."""
    refuse_unmade(folder)
    trash = open_trash()
    number = 1
    while os.path.lexists(trash / str(number)):
        number += 1
    try:
        os.rename(folder, trash / str(number))
    except PermissionError:
        raise Refusal(
            f"{folder.name} is in use: close JupyterLab and other programs that run in it, "
            "and run the same command again."
        ) from None


def empty_trash() -> None:
    """Remove what was moved to the trash; what cannot be removed now is left for the next time.

    The mark that says whose folder it is goes last.
    """
    if not os.path.lexists(checkout.TRASH):
        return
    trash = open_trash()
    for name in sorted(set(os.listdir(trash)) - {MARKER}):
        rescue_learners_files(trash / name)
        shutil.rmtree(trash / name, ignore_errors=True)
    if os.listdir(trash) == [MARKER]:
        (trash / MARKER).unlink()
        trash.rmdir()


def rescue_learners_files(folder: Path) -> None:
    """Move what no package lists, so what somebody put there, to the same place in .venv.

    Without its stamp an environment is one that was never finished, or is half removed.
    """
    if not re.fullmatch("[0-9a-f]{64}", read_stamp(folder)) or not checkout.VENV.is_dir():
        return
    kept = []
    for inside in unlisted_files(folder):
        place = checkout.VENV / inside
        if not os.path.lexists(place):
            place.parent.mkdir(parents=True, exist_ok=True)
            os.rename(folder / inside, place)
            kept.append(inside.as_posix())
    if kept:
        more = f" and {len(kept) - 3} more" if len(kept) > 3 else ""
        say(f"      Kept what no package had put into .venv: {', '.join(kept[:3])}{more}")
    (folder / STAMP).unlink()


def unlisted_files(folder: Path) -> list[Path]:
    """Return the files of an environment, by their place in it, that no installer has made."""
    listed = set()
    for site in site_packages(folder):
        for record in site.glob("*.dist-info/RECORD"):
            with contextlib.suppress(OSError):
                for line in record.read_text("utf-8", "replace").splitlines():
                    place = line.rpartition(",")[0].rpartition(",")[0].strip('"')
                    listed.add(os.path.normpath(site / place))
    found = []
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(
            name
            for name in folders
            if name != "__pycache__" and not name.endswith((".dist-info", ".egg-info"))
        )
        for name in sorted(names):
            path = os.path.join(place, name)
            if path not in listed and not MADE_BY_TOOLS.match(os.path.relpath(path, folder)):
                found.append(Path(os.path.relpath(path, folder)))
    return found


def open_trash() -> Path:
    """Return the folder of what is on its way out; Refusal if it is somebody else's."""
    refuse_foreign(checkout.TRASH)
    try:
        return made_again(checkout.TRASH).path
    except ValueError as refusal:
        raise Refusal(f"{checkout.TRASH.name} stays as it is, because {refusal}.") from None


def refuse_unmade(folder: Path) -> None:
    """Refuse to replace or to remove a folder that the course did not make."""
    refuse_foreign(folder)
    if not os.path.lexists(folder):
        return
    made = re.match(f"{UNFINISHED}|[0-9a-f]{{64}}$", read_stamp(folder))
    if not folder.is_dir() or not made and set(os.listdir(folder)) - {FRESH_STAMP}:
        raise Refusal(
            f"The {folder.name} here was not made by the course, so it stays as it is: "
            "move it away and run the same command again."
        )


@contextlib.contextmanager
def installing_alone() -> Iterator[int | None]:
    """Hold a lock in the block, so that two terminals do not install at once; the second waits."""
    refuse_foreign(checkout.VENV)
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
    handle = os.open(checkout.ROOT / ".course.lock", flags)
    try:
        if not lock(handle, wait=False):
            say("Another course.py is installing here, so this one waits for it.")
            lock(handle, wait=True)
        yield handle
    finally:
        os.close(handle)


def lock(handle: int, wait: bool) -> bool:
    """Lock an open file until it is closed; return False if another process has it."""
    try:
        if os.name == "nt":
            lock_on_windows(handle, wait)
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except (BlockingIOError, PermissionError):
        return False
    except OSError:
        return True  # a file system without locks
    return True


def lock_on_windows(handle: int, wait: bool) -> None:
    """Lock the first byte of a file; PermissionError if another process has it."""
    import msvcrt
    from time import sleep

    while True:
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
            return
        except PermissionError:
            if not wait:
                raise
            sleep(1)
