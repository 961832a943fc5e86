"""The course in two commands; they need nothing but CPython 3.11, 3.12 or 3.13.

    python3 course.py lab          open JupyterLab on the course (extra words go to JupyterLab)
    python3 course.py test         run the tests, two at a time (extra words go to pytest)

    python3 course.py bench        measure ratios of times against their goals; words choose some
    python3 course.py setup        only make the environment in .venv, as the other two do first
    python3 course.py reset 03     put a fresh copy of notebook 03 into work/, yours beside it
    python3 course.py check        what is here and what is missing, one line each

Packages are installed with uv where it is present, with pip otherwise; COURSE_INSTALLER=pip in the
environment asks for pip all the same. pip's settings (PIP_INDEX_URL and so on) count for both.
"""
# Standard library only, and no new syntax, so that an old Python can read this file and say so.

import contextlib
import datetime
import difflib
import errno
import hashlib
import importlib.util
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SUPPORTED = ((3, 11), (3, 12), (3, 13))
REFERENCE = (3, 11)  # the Python whose outputs are stored in the notebooks

ROOT = Path(__file__).resolve().parent
NOTEBOOKS = ROOT / "notebooks"
WORK = ROOT / "work"
VENV = ROOT / ".venv"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
STAMP = VENV / "course-stamp.txt"
LOG = VENV / "course-install.log"
UNFINISHED = "unfinished"
SET_UP_FILES = (
    "requirements.txt",
    "constraints.txt",
    "pyproject.toml",
    "share/etc/jupyter/labconfig/default_setting_overrides.json",
)
# What stands at the top of an environment that venv, uv or pip made, and what the course adds.
INSTALLED = """
    .gitignore .lock CACHEDIR.TAG Include Lib Scripts bin course-install.log course-stamp.new
    course-stamp.txt etc include lib lib64 Library man pyvenv.cfg share
"""
NO_LINK = getattr(os, "O_NOFOLLOW", 0)
LINK_ITSELF = {"follow_symlinks": False} if os.link in os.supports_follow_symlinks else {}
GIGABYTE = 10**9
# Installed, on Linux: 3 GB with the CPU build of PyTorch, 7 GB with CUDA; and a download on top.
DISK_NEEDED = {"cpu": 4, "cuda": 9, "update": 1}

# A learner's settings that would take Python, Jupyter or an installer out of .venv.
LEADS_ASTRAY = """
    PYTHONHOME PYTHONPATH PYTHONSTARTUP PYTHONOPTIMIZE PYTHONINSPECT PYTHONWARNINGS
    PYTHONPLATLIBDIR JUPYTER_PATH JUPYTER_CONFIG_PATH JUPYTERLAB_DIR __PYVENV_LAUNCHER__
    PIP_TARGET PIP_PREFIX PIP_ROOT PIP_PYTHON PIP_REQUIRE_VIRTUALENV PIP_REQUIREMENT
    UV_SYSTEM_PYTHON UV_PYTHON UV_TARGET UV_PREFIX UV_PROJECT UV_WORKING_DIRECTORY
"""
# What pip calls a setting, what uv calls it, what uv puts between several values.
UV_NAMES = (
    ("PIP_INDEX_URL", "UV_DEFAULT_INDEX", " "),
    ("PIP_EXTRA_INDEX_URL", "UV_INDEX", " "),
    ("PIP_FIND_LINKS", "UV_FIND_LINKS", ","),
    ("PIP_CERT", "SSL_CERT_FILE", " "),
)
# What an installer says -> what that means. The first one found counts, and their order matters:
# without a network pip finds no version of anything either.
EXPLANATIONS = (
    (
        r"No space left on device|\[Errno 28\]|os error (28|112)\b|not enough space on the disk",
        "The disk is full (this folder's, or the one for temporary files): free some space and run "
        "the same command again.",
    ),
    (
        r"CERTIFICATE_VERIFY_FAILED|invalid peer certificate|UnknownIssuer",
        "The package index answered with a certificate that is not trusted here, as behind some "
        "company proxies: put the company's certificate file into PIP_CERT and run the same "
        "command again.",
    ),
    (
        r"NewConnectionError|ConnectTimeoutError|ReadTimeoutError|ProxyError|NameResolutionError"
        r"|getaddrinfo failed|Name or service not known|Temporary failure in name resolution"
        r"|Network is unreachable|Connection refused|dns error|tcp connect error"
        r"|error sending request|operation timed out",
        "No network: the package index could not be reached; connect (behind a proxy, set "
        "HTTPS_PROXY; for an index of your own, PIP_INDEX_URL) and run the same command again.",
    ),
    (
        r"No matching distribution found for (?P<what>[^\s;]+)"
        r"|Because (?P<uv_what>\S+) has no wheels with a matching",
        "What the course needs has no build of {what} for this machine ({machine}).",
    ),
)


class Refusal(Exception):
    """One sentence that says what is wrong and what to do; printed instead of a traceback."""


def say(text):
    """Print a line now, so that it comes before what a started program prints."""
    print(text, flush=True)


# -- which Python ----------------------------------------------------------------------------------


def dotted(version):
    """Return (3, 11) as "3.11"."""
    return ".".join(str(number) for number in version)


def this_python():
    """Return the version of the Python that runs this file, as (major, minor)."""
    return tuple(sys.version_info[:2])


def ask(command, timeout=60):
    """Return what `command` prints, stripped, or None where it is missing, fails or hangs."""
    quiet = {"stdin": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    words = [str(word) for word in command]
    try:
        answer = subprocess.check_output(words, env=environment(), timeout=timeout, **quiet)
    except (OSError, subprocess.SubprocessError):
        return None
    return answer.decode("utf-8", "replace").strip()


def version_of(command):
    """Return (major, minor) of the CPython that `command` starts, or None if it starts none."""
    code = "import sys; print(sys.implementation.name, '%d.%d' % sys.version_info[:2])"
    found = re.match(r"cpython (\d+)\.(\d+)$", ask([*command, "-c", code]) or "")
    return tuple(map(int, found.groups())) if found else None


def pythons_found():
    """Return the commands on this machine that start a Python that works; each one was tried."""
    commands = [["python" + dotted(version)] for version in SUPPORTED] + [["python3"], ["python"]]
    if shutil.which("py"):  # the launcher on Windows
        listed = re.findall(r"-V?:?(3\.\d+)", ask([shutil.which("py"), "-0p"]) or "")
        commands = [["py", "-" + version] for version in sorted(set(listed))] + commands
    here = [(shutil.which(name), name, options) for name, *options in commands]
    return [
        " ".join([name, *options])
        for path, name, options in here
        if path and version_of([path, *options]) in SUPPORTED
    ]


def python_fault():
    """Return the sentence for a Python that the course does not work with, or None."""
    name = platform.python_implementation()
    if this_python() in SUPPORTED and name == "CPython":
        return None
    fault = "is too old" if this_python() < SUPPORTED[0] else "is too new"
    found = " or ".join(f"`{command} course.py`" for command in pythons_found())
    works = ", ".join(dotted(version) for version in SUPPORTED)
    return (
        f"{name} {dotted(this_python())} {fault if name == 'CPython' else 'will not do'}: the "
        f"course works with CPython {works}; "
        + (f"start it with {found}." if found else "none is on this machine, so install one.")
    )


# -- the environment -------------------------------------------------------------------------------


def environment():
    """Return the variables for whatever is started: the learner's, less what leads astray."""
    astray = LEADS_ASTRAY.split()
    variables = {name: value for name, value in os.environ.items() if name not in astray}
    # TensorFlow's log noise off; it reads these only before its import.
    variables.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    variables.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
    variables["PYTHONHASHSEED"] = "0"  # sets of strings look the same in every kernel
    variables["JUPYTER_PREFER_ENV_PATH"] = "1"  # a kernel of the same name in the home folder loses
    variables.setdefault("JUPYTERLAB_WORKSPACES_DIR", str(WORK / ".workspaces"))
    variables["VIRTUAL_ENV"] = str(VENV)
    variables["PATH"] = str(PYTHON.parent) + os.pathsep + variables.get("PATH", os.defpath)
    return variables


def installer_environment():
    """Return the variables for pip and uv, with pip's settings said in uv's words too."""
    variables = environment()
    variables["PIP_USER"] = "0"  # some machines set it for all; in .venv it is an error
    for pip_name, uv_name, between in UV_NAMES:
        if variables.get(pip_name) and not variables.get(uv_name):
            variables[uv_name] = between.join(variables[pip_name].split())
    return variables


def fingerprint(version):
    """Return a hash of all that decides what is in .venv; its place too, which scripts name."""
    digest = hashlib.sha256(os.fsencode(f"{dotted(version)} {ROOT}"))
    for name in SET_UP_FILES:
        digest.update((ROOT / name).read_bytes() + b"\0")
    return digest.hexdigest()


def read_stamp():
    """Return the fingerprint that the last install left, "unfinished", or None."""
    try:
        return STAMP.read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return None


def write_stamp(text):
    """Write the stamp in one step: it is there whole or not at all."""
    refuse_foreign(VENV)
    VENV.mkdir(exist_ok=True)
    fresh = STAMP.with_name("course-stamp.new")
    with contextlib.suppress(FileNotFoundError):
        fresh.unlink()  # left by one that was killed; a link would be written through
    with open(str(fresh), "x", encoding="ascii") as file:
        file.write(text + "\n")
    os.replace(str(fresh), str(STAMP))


def up_to_date(version):
    """Tell whether a whole install for these requirements stands in .venv."""
    return version is not None and read_stamp() == fingerprint(version)


def setup(extra=()):
    """Make or repair .venv; do nothing, quickly, where it is as it should be."""
    if extra:
        raise Refusal(f"`setup` takes no further words, and got: {' '.join(extra)}.")
    if not up_to_date(version_of([PYTHON])):
        with only_installer():
            install()


def install():
    """Bring .venv from whatever state it is in to the pinned packages; the stamp comes last."""
    tool = installer()
    version = usable_venv()
    refuse_full_disk("update" if version else "cpu" if cpu_build_offered() else "cuda")
    say(f"[1/3] Environment in .venv: Python {dotted(version or this_python())}, by {tool}")
    write_stamp(UNFINISHED)
    make_venv(tool, version)
    say("[2/3] Installing what the course needs: minutes the first time, a gigabyte to download")
    install_packages(tool)
    version = version_of([PYTHON])
    if version not in SUPPORTED:
        raise Refusal("The new .venv does not start: run the same command again.")
    write_stamp(fingerprint(version))
    say("[3/3] Ready")


def usable_venv():
    """Return the Python version of a .venv to install into, or None once there is none.

    One that is half made or no longer starts is removed; one that is not the course's is refused.
    """
    if not os.path.lexists(str(VENV)):
        return None
    refuse_foreign(VENV)
    stamp, version = read_stamp(), version_of([PYTHON])
    if not VENV.is_dir() or not (stamp or (VENV / "pyvenv.cfg").exists() or not os.listdir(VENV)):
        raise Refusal("The .venv here is no Python environment: move it away and run this again.")
    if version and stamp != UNFINISHED:
        if version in SUPPORTED:
            return version
        raise Refusal(
            f"The .venv here has Python {dotted(version)}, which the course does not work with: "
            "delete the folder .venv and run the same command again."
        )
    why = "The .venv here is broken: its Python does not start"
    why = "The last install did not finish" if stamp == UNFINISHED else why
    others = not_installed()
    if others or not is_ours(stamp):
        whose = f"it holds {', '.join(others)}" if others else "it is not of the course's making"
        raise Refusal(
            f"{why}, and it is not removed, since {whose}: move that away and run this again."
        )
    say(f"{why}. Making .venv afresh; finished downloads are kept.")
    try:
        shutil.rmtree(str(VENV))
    except OSError as error:
        raise Refusal(
            f"{why}, and .venv cannot be removed ({error.strerror}): close the programs that use "
            "it, delete the folder .venv and run the same command again."
        ) from None
    return None


def is_ours(stamp):
    """Tell whether the course made what is in .venv: its stamp says so, or nothing is in it."""
    return bool(re.match(UNFINISHED + "$|[0-9a-f]{64}$", stamp or "")) or not os.listdir(str(VENV))


def not_installed():
    """Return the names at the top of .venv that no installer puts there: a learner's, perhaps."""
    return sorted(set(os.listdir(str(VENV))) - set(INSTALLED.split()))


def refuse_foreign(folder):
    """Refuse to write into a folder of the course, or to delete it, if it is not really its own."""
    name = folder.relative_to(ROOT)
    if ROOT in (Path(ROOT.anchor), home_folder()):
        raise Refusal(
            f"The course stands right in {ROOT}, where it must not write: "
            "put it into a folder of its own and run this again."
        )
    if os.path.islink(str(folder)) or getattr(os.path, "isjunction", os.path.islink)(str(folder)):
        raise Refusal(
            f"{name} is a link to another folder, and the course writes only into its own: "
            "remove the link and run this again."
        )
    inside = Path(os.path.realpath(str(folder)))
    if inside != folder:
        raise Refusal(f"{name} leads to {inside}, which is not the course's: move it away first.")


def home_folder():
    """Return the learner's home folder, or None where the system names none."""
    try:
        return Path(os.path.realpath(str(Path.home())))
    except (KeyError, OSError, RuntimeError):
        return None


@contextlib.contextmanager
def only_installer():
    """Hold a lock while installing, so that two terminals do not write the same .venv."""
    refuse_foreign(VENV)
    handle = os.open(str(ROOT / ".course.lock"), os.O_RDWR | os.O_CREAT | NO_LINK)
    try:
        lock(handle)
        yield
    finally:
        os.close(handle)


def lock(handle):
    """Lock an open file until it is closed; the system ends the lock too when its holder dies."""
    try:
        if os.name == "nt":
            import msvcrt

            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.set_inheritable(handle, True)  # an installer that outlives this one still holds it
    except (BlockingIOError, PermissionError):
        raise Refusal("Another course.py is installing: wait for it and run this again.") from None
    except OSError:
        pass  # a file system without locks


def installer():
    """Return "uv" where it is present and "pip" otherwise; COURSE_INSTALLER decides by hand."""
    wanted = os.environ.get("COURSE_INSTALLER", "")
    if wanted not in ("", "pip", "uv"):
        raise Refusal(f"COURSE_INSTALLER is {wanted!r}, and can be pip or uv.")
    if wanted == "uv" and not shutil.which("uv"):
        raise Refusal("COURSE_INSTALLER asks for uv, and there is no uv on this machine.")
    return wanted or ("uv" if shutil.which("uv") else "pip")


def cpu_build_offered():
    """Guess whether PyTorch comes without CUDA: on Linux only if another index may have that."""
    names = [name for pair in UV_NAMES[:3] for name in pair[:2]]
    return not sys.platform.startswith("linux") or any(os.environ.get(name) for name in names)


def refuse_full_disk(kind):
    """Refuse to start an install that the disk has no room for."""
    need, free = DISK_NEEDED[kind], shutil.disk_usage(str(ROOT)).free / GIGABYTE
    if free < need:
        smaller = " (4 GB without CUDA, see README)" if kind == "cuda" else ""
        raise Refusal(
            f"The disk is too full: {free:.1f} GB are free and the install needs about {need} GB"
            f"{smaller}; free some space and run the same command again."
        )


def make_venv(tool, version):
    """Make .venv with the Python that runs this file, unless one of `version` stands there."""
    # From inside a .venv, which may just have been removed, it is the Python under it.
    base = getattr(sys, "_base_executable", None) or sys.executable
    if tool == "uv":
        if version is None:
            run_logged(["uv", "venv", "--allow-existing", "--python", base, str(VENV)])
        return
    if not (importlib.util.find_spec("venv") and importlib.util.find_spec("ensurepip")):
        raise Refusal(
            "This Python has no venv module, which Debian and Ubuntu keep in a package of its own: "
            f"`sudo apt install python{dotted(this_python())}-venv`, then run this again."
        )
    if version is None:
        run_logged([base, "-m", "venv", str(VENV)])
    elif ask([PYTHON, "-m", "pip", "--version"]) is None:  # one that uv made
        run_logged([str(PYTHON), "-m", "ensurepip"])


def install_packages(tool):
    """Install requirements.txt under constraints.txt into .venv."""
    if tool == "uv":
        # As with pip, the best version of all indexes counts, not the first index with any version.
        command = ["uv", "pip", "install", "--python", str(PYTHON)]
        command += ["--index-strategy", "unsafe-best-match"]
    else:
        command = [str(PYTHON), "-m", "pip", "install", "--no-input", "--progress-bar", "off"]
        command += ["--disable-pip-version-check"]
    run_logged([*command, "-r", "requirements.txt", "-c", "constraints.txt"])


def run_logged(command):
    """Run an installer with its output in the log; raise a Refusal that explains a failure."""
    output = []
    handle = os.open(str(LOG), os.O_WRONLY | os.O_CREAT | os.O_APPEND | NO_LINK)
    with os.fdopen(handle, "ab") as log, subprocess.Popen(
        command,
        cwd=str(ROOT),
        env=installer_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        close_fds=os.name == "nt",  # elsewhere it inherits the lock
    ) as process:
        for line in process.stdout:
            log.write(line)
            output.append(line.decode("utf-8", "replace").rstrip())
            show_passing(output[-1])
    show_passing("")
    if process.returncode:
        raise Refusal(explain(output, command[0]))


def show_passing(line):
    """Show a line on a terminal until the next one comes; nothing in a file or a pipe."""
    if sys.stdout.isatty():
        width = shutil.get_terminal_size().columns - 1
        print("\r" + f"      {line.strip()}"[:width].ljust(width) + "\r", end="", flush=True)


def explain(output, tool):
    """Return the sentence for what an installer said, and failing that the end of what it said."""
    for pattern, sentence in EXPLANATIONS:
        found = re.search(pattern, "\n".join(output))
        if found:
            what = next(filter(None, found.groupdict().values()), "")
            kind = f"Python {dotted(this_python())}, {platform.system()} {platform.machine()}"
            by_pip = " (COURSE_INSTALLER=pip tries it with pip and all of pip's own settings.)"
            more = by_pip if tool == "uv" and sentence.startswith("No network") else ""
            return sentence.format(what=what, machine=kind) + more
    noise = ("[notice]", "WARNING: Location", "Looking in ")
    lines = [line for line in output if line.strip() and not line.startswith(noise)]
    return "The install failed; the end of .venv/course-install.log says why:\n  " + "\n  ".join(
        lines[-8:]
    )


# -- the learner's notebooks -----------------------------------------------------------------------


def fill_work():
    """Copy into work/ whatever of notebooks/ is not there yet; what is there is the learner's."""
    refuse_foreign(WORK)
    missing = []
    for source in sorted(NOTEBOOKS.rglob("*")):
        parts = source.relative_to(NOTEBOOKS).parts
        hidden = any(part.startswith((".", "__pycache__")) for part in parts)
        if source.is_file() and not hidden and not os.path.lexists(str(WORK.joinpath(*parts))):
            missing.append((source, WORK.joinpath(*parts)))
    trust([source for source, _ in missing])
    new = []
    for source, copy in missing:
        with staged(source, copy) as part:
            new += [copy.name] if move_new(part, copy) else []
    if new:
        say(f"New in work/, which is yours to edit: {', '.join(new)}")


@contextlib.contextmanager
def staged(source, copy):
    """Copy a file beside its place, whence it goes there in one step, whole or not at all."""
    refuse_foreign(WORK)
    copy.parent.mkdir(parents=True, exist_ok=True)
    refuse_foreign(copy.parent)
    handle, part = tempfile.mkstemp(prefix="." + copy.name, suffix=".part", dir=str(copy.parent))
    os.close(handle)
    try:
        shutil.copyfile(str(source), part)  # not its mode: a copy must be writable
        os.chmod(part, 0o666 & ~umask())
        yield Path(part)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(part)


def umask():
    """Return the permissions that this process takes from the files that it makes."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def move_new(path, place):
    """Give a file a place that is free; return False, and leave it, where another has it."""
    try:
        os.link(str(path), str(place), **LINK_ITSELF)
    except FileExistsError:
        return False
    except OSError:  # a folder, or a file system without links
        if os.path.lexists(str(place)):
            return False
        os.rename(str(path), str(place))
    return True


def trust(notebooks):
    """Sign notebooks as trusted; Jupyter signs what they contain, so their copies are trusted."""
    names = [path for path in notebooks if path.suffix == ".ipynb"]
    code = "from nbformat.sign import TrustNotebookApp as App; App.launch_instance()"
    if names and ask([PYTHON, "-c", code, *names]) is None:
        say("Not marked as trusted: JupyterLab's command palette has Trust Notebook.")


def chapters():
    """Return the names of the course's notebooks."""
    return sorted(path.name for path in NOTEBOOKS.glob("*.ipynb"))


def chapter_named(word):
    """Return the notebook that a word names: 3, 03, 03_byte, 03_bytecode_and_frames.ipynb."""
    stem = re.sub(r"\.ipynb$", "", Path(word).name)
    if stem.isdigit():
        named = [name for name in chapters() if re.match(rf"0*{int(stem)}(?!\d)", name)]
    else:
        named = [name for name in chapters() if stem and name.startswith(stem)]
    if len(named) != 1:
        raise Refusal(f"{word!r} names no one notebook; there are: {', '.join(chapters())}.")
    return named[0]


def reset(extra):
    """Put fresh copies of the named notebooks into work/, the learner's own beside them."""
    if not extra:
        raise Refusal(
            f"`reset` takes the number of a notebook; there are: {', '.join(chapters())}."
        )
    for name in [chapter_named(word) for word in extra]:
        own, source = WORK / name, NOTEBOOKS / name
        trust([source])
        when = datetime.datetime.now().strftime("%Y-%m-%d_%H%M%S")
        with staged(source, own) as fresh:
            kept = keep(own, when) if os.path.lexists(str(own)) else None
            os.replace(str(fresh), str(own))
        say(f"work/{name} is fresh" + (f"; yours is kept as work/{kept.name}" if kept else ""))
    say("Where it is open in JupyterLab, choose File, Reload Notebook from Disk.")


def keep(path, when):
    """Give what stands at `path` a name with a time in it, and a count where that is taken too."""
    candidate, count = path.with_name(f"{path.stem}.{when}{path.suffix}"), 1
    while not move_new(path, candidate):
        count += 1
        candidate = path.with_name(f"{path.stem}.{when}-{count}{path.suffix}")
    return candidate


# -- what is started -------------------------------------------------------------------------------


def lab(extra):
    """Open JupyterLab on work/."""
    setup()
    fill_work()
    first = "/tree/00_start_here.ipynb"
    url = "/lab" + (first if (WORK / Path(first).name).exists() else "")
    command = [str(PYTHON), "-m", "jupyterlab", f"--ServerApp.root_dir={WORK}"]
    command.append(f"--LabApp.default_url={url}")
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        say("You are root: JupyterLab is started with --allow-root, which it asks for.")
        command.append("--allow-root")
    say("Starting JupyterLab: Ctrl-C in this terminal stops it.")
    return hand_over([*command, *extra])


def test(extra):
    """Run pytest on the notebooks and the tests."""
    setup()
    command = [str(PYTHON), "-m", "pytest"]
    version = version_of([PYTHON])
    if version != REFERENCE:
        command.append("--nbval-lax")
        say(
            f"Notebooks are run but not compared (--nbval-lax): their stored outputs are those of "
            f"Python {dotted(REFERENCE)}, and this is {dotted(version)}."
        )
    return hand_over([*command, *workers(extra), *extra])


def workers(extra):
    """Return the words for two workers where there is room for two; who says -n or so decides."""
    own = ("-n", "--numprocesses", "--dist", "--pdb", "--trace", "-s", "--capture", "--co", "-p")
    if any(word.startswith(own) for word in extra):
        return []
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # Windows, and systems that do not tell
        return []
    return ["-n", "2"] if (os.cpu_count() or 1) >= 2 and memory >= 4 * GIGABYTE else []


def bench(extra):
    """Measure ratios of times against their goals, apart from the tests."""
    setup()
    return hand_over([str(PYTHON), "-m", "tests.benchmarks", *extra])


def hand_over(command):
    """Run the last command of a start, in place of this process where the system can do that."""
    os.chdir(str(ROOT))
    if os.name == "posix":
        os.execve(command[0], command, environment())
    with subprocess.Popen(command, env=environment()) as process:
        while True:
            try:
                return process.wait()
            except KeyboardInterrupt:
                pass  # it is the started program's to answer: JupyterLab asks before it stops


# -- what is here ----------------------------------------------------------------------------------

REPAIR = "run `course.py setup`, and if that changes nothing delete the folder .venv first"
KEY_PACKAGES = """jupyterlab ipywidgets anywidget nbval networkx matplotlib numpy bytecode
    torch tensorflow-cpu tensorflow"""
# Run by the Python that has the packages: what is there against the pins, and the memory.
PROBE = """
import json, sys
from importlib import metadata
import psutil
from packaging.requirements import Requirement

def found(name):
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None

lines = open(sys.argv[1], encoding="utf-8").read().splitlines()
pins = [Requirement(line) for line in lines if line.split("=")[0] in sys.argv[2].split()]
pins = [pin for pin in pins if pin.marker is None or pin.marker.evaluate()]
rows = [(pin.name, found(pin.name), str(pin.specifier)) for pin in pins]
same = [bool(row[1]) and row_pin.specifier.contains(row[1]) for row, row_pin in zip(rows, pins)]
memory = psutil.virtual_memory()
print(json.dumps([[*row, ok] for row, ok in zip(rows, same)] + [[memory.total, memory.available]]))
"""


def check(extra=()):
    """Print a line for each thing that the course needs; return 0 if it can run here."""
    if extra:
        raise Refusal(f"`check` takes no further words, and got: {' '.join(extra)}.")
    missing = []
    for mark, what, text in [*check_python(), *check_packages(), *check_machine()]:
        say(f"{mark:9} {what:14} {text}")
        missing += [what] if mark == "MISSING" else []
    say(f"Not ready: {', '.join(missing)} first." if missing else "Ready: the course can run here.")
    return 1 if missing else 0


def env_python():
    """Return the Python with the packages: that of .venv, or this one (conda, a hub)."""
    return PYTHON if VENV.exists() else sys.executable


def check_python():
    """Yield a row for the Python that runs this file, and one for the environment."""
    fault, version = python_fault(), version_of([env_python()])
    yield "MISSING" if fault else "ok", "Python", fault or platform.python_version()
    where = ".venv" if VENV.exists() else "this Python, there being no .venv"
    if version not in SUPPORTED:
        yield "MISSING", "environment", f"{where}, and it does not do: {REPAIR}"
    elif VENV.exists() and not up_to_date(version):
        yield "note", "environment", f"{where}, not up to date: {REPAIR}"
    else:
        yield "ok", "environment", f"{where}, Python {dotted(version)}"


def check_packages():
    """Yield a row for each key package, for what does not load, and for the memory."""
    answer = ask([env_python(), "-c", PROBE, ROOT / "constraints.txt", KEY_PACKAGES])
    if answer is None:
        yield "MISSING", "packages", f"not installed: {REPAIR}"
        return
    *packages, (total, available) = json.loads(answer)
    for name, version, pin, same in packages:
        if version is None:
            yield "MISSING", name, f"pinned {pin}: {REPAIR}"
        else:
            yield "ok" if same else "note", name, version + ("" if same else f", pinned {pin}")
    whole = all(version for _, version, *_ in packages)
    for module in ("helpers", "torch", "tensorflow") if whole else ():
        if ask([env_python(), "-c", f"import {module}"], timeout=300) is None:
            say_why = f'{env_python()} -c "import {module}"'
            yield "MISSING", f"import {module}", f"fails, and this says why: {say_why}"
    text = f"{total / GIGABYTE:.1f} GB, of it free {available / GIGABYTE:.1f} GB"
    little = "" if available > 2 * GIGABYTE else ": an open notebook takes 1 GB, so close others"
    yield "note" if little else "ok", "memory", text + little


def check_machine():
    """Yield the rows for disk, compiler and browser."""
    free = shutil.disk_usage(str(ROOT)).free / GIGABYTE
    yield "ok" if free > 0.5 else "note", "disk", f"{free:.1f} GB free"
    compilers = ("cc", "gcc", "clang", "cl")
    yield optional("C compiler", compilers, "chapters 4 and 5 show more with one")
    browsers = ("chromium", "chromium-browser", "google-chrome")
    yield optional("Chromium", browsers, "only the tests in a browser want one")


def optional(what, names, use):
    """Return the row for a program that the course can do without."""
    found = next(filter(None, map(shutil.which, names)), None)
    return "ok" if found else "optional", what, f"{found or 'not found'} ({use})"


# -- the command line ------------------------------------------------------------------------------

COMMANDS = {
    "lab": lab,
    "test": test,
    "bench": bench,
    "setup": setup,
    "reset": reset,
    "check": check,
}


def command_named(words):
    """Return the command that the first word names; refuse a word that names none."""
    known = ", ".join(COMMANDS)
    if not words:
        raise Refusal(f"Say which command: {known} (`course.py --help` explains them).")
    if words[0] not in COMMANDS:
        near = difflib.get_close_matches(words[0], COMMANDS, n=1)
        hint = f"; did you mean {near[0]}?" if near else "."
        raise Refusal(f"There is no command {words[0]!r}, there are: {known}{hint}")
    return COMMANDS[words[0]]


def main(words):
    """Run one command; return its exit code. A refusal is a sentence, never a traceback."""
    if words and words[0] in ("-h", "--help", "help"):
        print(__doc__.strip())
        return 0
    try:
        command = command_named(words)
        fault = python_fault()
        if fault and command is not check:
            raise Refusal(fault)
        return command(words[1:]) or 0
    except Refusal as refusal:
        message = str(refusal)
    except OSError as error:
        message = explain_os(error)
    except KeyboardInterrupt:
        say("\nStopped. The same command, started again, repairs what was left half done.")
        return 130
    print(f"course.py: {message}", file=sys.stderr)
    return 2


def explain_os(error):
    """Return the sentence for what the operating system refused."""
    if error.errno == errno.ENOSPC:
        return EXPLANATIONS[0][1]
    name = f" ({error.filename})" if error.filename else ""
    return f"{error.strerror or error}{name}: put that right and run the same command again."


if __name__ == "__main__":
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")  # a terminal may lack a letter of a file's name
    sys.exit(main(sys.argv[1:]))
