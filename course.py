"""The course in two commands; they need nothing but CPython 3.11, 3.12 or 3.13.

    python3 course.py lab          open the course in JupyterLab (extra words go to JupyterLab)
    python3 course.py test         run the tests, two at a time (extra words go to pytest;
                                   `test notebooks` runs only the notebooks, `test --lax` runs
                                   them without comparing their outputs with the stored ones,
                                   `test --all` also runs the long tests)

    python3 course.py bench        compare ratios of times with their goals; extra words choose some
    python3 course.py setup        only create the environment in .venv, as lab and test do first
    python3 course.py reset 03     put a fresh copy of notebook 03 into work/ and keep your copy
                                   (`--solved-to 3` solves its first three exercises, to catch up)
    python3 course.py workshop day plan a half-day, day or two-days; numbers choose chapters
    python3 course.py handout 03   put notebook 03 without solutions into handouts/ (or `--to DIR`)
    python3 course.py slides 03    write its slides to slides/ (a browser shows them offline)
    python3 course.py book         write the course to site/ as web pages that need no Python
    python3 course.py check        list what is installed and what is missing, one line each

Packages are installed with uv if you have it, otherwise with pip. Set COURSE_INSTALLER=pip in the
environment to use pip anyway. Both follow pip's settings (PIP_INDEX_URL and so on).
"""
# This file makes .venv; helpers/course/ does the rest, run by the Python of .venv.
# Standard library only, and a syntax that Python 2.7 reads too, so that an old one can say so.

import sys

if sys.version_info < (3, 6):
    sys.stderr.write(
        "course.py: Python %d.%d is too old: the course works with CPython 3.11, 3.12, 3.13; "
        "start it with one of them, as in `python3.11 course.py`.\n" % sys.version_info[:2]
    )
    sys.exit(2)

import contextlib
import difflib
import errno
import hashlib
import importlib.util
import os
import platform
import re
import shutil
import subprocess
from pathlib import Path

COMMANDS = ("lab", "test", "bench", "setup", "reset", "check")
COMMANDS += ("workshop", "handout", "slides", "book")
OURS = ("setup", "reset", "check", "book")  # their words, -h too, go to no other program
SUPPORTED = ((3, 11), (3, 12), (3, 13))

ROOT = Path(__file__).resolve().parent
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
    "package/build.py",
    "share/etc/jupyter/labconfig/default_setting_overrides.json",
    "share/etc/jupyter/jupyter_nbconvert_config.json",
    "share/etc/jupyter/jupyter_server_config.d/who-runs-your-function.json",
)
# What is at the top of an environment that venv, uv or pip made, and what the course adds.
INSTALLED = """
    .gitignore .lock CACHEDIR.TAG Include Lib Scripts bin course-install.log course-stamp.new
    course-stamp.txt etc include lib lib64 Library man pyvenv.cfg share
"""
NO_LINK = getattr(os, "O_NOFOLLOW", 0)
GIGABYTE = 10**9
# Installed, on Linux: 3 GB with the CPU build of PyTorch, 7 GB with CUDA; and a download on top.
DISK_NEEDED = {"cpu": 4, "cuda": 9, "update": 1}
REPAIR = "run `course.py setup`, and if that changes nothing delete the folder .venv first"

# A learner's settings that would take Python, Jupyter or an installer out of .venv.
LEADS_ASTRAY = """
    PYTHONHOME PYTHONPATH PYTHONSTARTUP PYTHONOPTIMIZE PYTHONINSPECT PYTHONWARNINGS
    PYTHONPLATLIBDIR PYTHONSAFEPATH JUPYTER_PATH JUPYTER_CONFIG_PATH JUPYTERLAB_DIR
    __PYVENV_LAUNCHER__ PIP_TARGET PIP_PREFIX PIP_ROOT PIP_PYTHON PIP_REQUIRE_VIRTUALENV
    PIP_REQUIREMENT UV_SYSTEM_PYTHON UV_PYTHON UV_TARGET UV_PREFIX UV_PROJECT UV_WORKING_DIRECTORY
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
        "The disk is full (this folder's, or the one for temporary files). Free some space and run "
        "the same command again.",
    ),
    (
        r"CERTIFICATE_VERIFY_FAILED|invalid peer certificate|UnknownIssuer",
        "This machine does not trust the certificate of the package index, as happens behind some "
        "company proxies. Put the company's certificate file into PIP_CERT and run the same "
        "command again.",
    ),
    (
        r"NewConnectionError|ConnectTimeoutError|ReadTimeoutError|ProxyError|NameResolutionError"
        r"|getaddrinfo failed|Name or service not known|Temporary failure in name resolution"
        r"|Network is unreachable|Connection refused|dns error|tcp connect error"
        r"|error sending request|operation timed out",
        "No network: the package index cannot be reached. Connect (behind a proxy, set "
        "HTTPS_PROXY; for an index of your own, PIP_INDEX_URL) and run the same command again.",
    ),
    (
        r"No matching distribution found for (?P<what>[^\s;]+)"
        r"|Because (?P<uv_what>\S+) has no wheels with a matching",
        "The course needs {what}, which has no build for this machine ({machine}).",
    ),
)


class Refusal(Exception):
    """One sentence that says what is wrong and what to do; printed instead of a traceback."""


def say(text):
    """Print a line now, so that it comes before what a started program prints."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


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
    found = re.match(r"cpython (\d+)\.(\d+)$", ask(list(command) + ["-c", code]) or "")
    return tuple(map(int, found.groups())) if found else None


def pythons_found():
    """Return the commands on this machine that start a Python that works; each one was tried."""
    commands = [["python" + dotted(version)] for version in SUPPORTED] + [["python3"], ["python"]]
    if shutil.which("py"):  # the launcher on Windows
        listed = re.findall(r"-V?:?(3\.\d+)", ask([shutil.which("py"), "-0p"]) or "")
        commands = [["py", "-" + version] for version in sorted(set(listed))] + commands
    here = [(shutil.which(words[0]), words) for words in commands]
    return [
        " ".join(words)
        for path, words in here
        if path and version_of([path] + words[1:]) in SUPPORTED
    ]


def python_fault():
    """Return the sentence for a Python that the course does not work with, or None."""
    name = platform.python_implementation()
    if this_python() in SUPPORTED and name == "CPython":
        return None
    fault = "is too old" if this_python() < SUPPORTED[0] else "is too new"
    found = " or ".join("`%s course.py`" % command for command in pythons_found())
    return "{} {} {}: the course works with CPython {}; {}".format(
        name,
        dotted(this_python()),
        fault if name == "CPython" else "is not CPython",
        ", ".join(map(dotted, SUPPORTED)),
        "start it with %s." % found if found else "none is on this machine, so install one.",
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
    """Return the variables for pip and uv, with pip's settings under uv's names too."""
    variables = environment()
    variables["PIP_USER"] = "0"  # some machines set it for all; in .venv it is an error
    for pip_name, uv_name, between in UV_NAMES:
        if variables.get(pip_name) and not variables.get(uv_name):
            variables[uv_name] = between.join(variables[pip_name].split())
    return variables


def fingerprint(version):
    """Return a hash of all that decides what is in .venv; its place too, which scripts name."""
    digest = hashlib.sha256(os.fsencode("{} {}".format(dotted(version), ROOT)))
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
    """Return whether a whole install of these requirements is in .venv."""
    return version is not None and read_stamp() == fingerprint(version)


def setup():
    """Make or repair .venv; do nothing, quickly, where it is as it should be."""
    if not up_to_date(version_of([PYTHON])):
        with only_installer():
            install()


def install():
    """Bring .venv from whatever state it is in to the pinned packages; the stamp comes last."""
    tool = installer()
    version = usable_venv()
    refuse_full_disk("update" if version else "cpu" if cpu_build_offered() else "cuda")
    python = dotted(version or this_python())
    say("[1/3] Environment in .venv: Python {}, by {}".format(python, tool))
    write_stamp(UNFINISHED)
    make_venv(tool, version)
    say("[2/3] Installing packages: the first time needs minutes and downloads a gigabyte")
    install_packages(tool)
    version = version_of([PYTHON])
    if version not in SUPPORTED:
        raise Refusal("The new .venv does not start. Run the same command again.")
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
        raise Refusal("The .venv here is not a Python environment. Move it away and try again.")
    if version in SUPPORTED and stamp != UNFINISHED:
        return version
    if version and stamp != UNFINISHED:
        raise Refusal(
            "The .venv here has Python %s, which does not work with the course: "
            "delete the folder .venv and run the same command again." % dotted(version)
        )
    why = "The .venv here is broken: its Python does not start"
    why = "The last install did not finish" if stamp == UNFINISHED else why
    remove_venv(stamp, why)
    return None


def remove_venv(stamp, why):
    """Remove a .venv that the course made and that contains nothing else; refuse any other."""
    others = sorted(set(os.listdir(str(VENV))) - set(INSTALLED.split()))  # a learner's, perhaps
    ours = re.match(UNFINISHED + "$|[0-9a-f]{64}$", stamp or "") or not os.listdir(str(VENV))
    if others or not ours:
        whose = "it contains " + ", ".join(others) if others else "the course did not make it"
        rest = ", but it was not removed, because %s: move that away and run this again." % whose
        raise Refusal(why + rest)
    say(why + ". Making a new .venv; finished downloads are kept.")
    try:
        shutil.rmtree(str(VENV))
    except OSError as error:
        raise Refusal(
            "{}, and .venv cannot be removed ({}): close the programs that use it, "
            "delete the folder .venv and run the same command again.".format(why, error.strerror)
        )


def refuse_foreign(folder):
    """Refuse to write into a folder of the course, or to delete it, if it is not really its own."""
    name = folder.relative_to(ROOT)
    if ROOT in (Path(ROOT.anchor), home_folder()):
        raise Refusal(
            "The course is directly in %s, where it must not write: "
            "put it into a folder of its own and run this again." % ROOT
        )
    if os.path.islink(str(folder)) or getattr(os.path, "isjunction", os.path.islink)(str(folder)):
        raise Refusal(
            "%s is a link to another folder, and the course writes only into its own: "
            "remove the link and run this again." % name
        )
    real = Path(os.path.realpath(str(folder)))
    if real != folder:
        where = "{} leads to {}, which is not the course's: move it away first."
        raise Refusal(where.format(name, real))


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
        raise Refusal("Another course.py is installing: wait for it and run this again.")
    except OSError:
        pass  # a file system without locks


def installer():
    """Return "uv" where it is present and "pip" otherwise; COURSE_INSTALLER decides by hand."""
    wanted = os.environ.get("COURSE_INSTALLER", "")
    if wanted not in ("", "pip", "uv"):
        raise Refusal("COURSE_INSTALLER is %r, but it must be pip or uv." % wanted)
    if wanted == "uv" and not shutil.which("uv"):
        raise Refusal("COURSE_INSTALLER asks for uv, but this machine has no uv.")
    return wanted or ("uv" if shutil.which("uv") else "pip")


def cpu_build_offered():
    """Guess whether PyTorch comes without CUDA: on Linux only if another index may have that."""
    names = [name for pair in UV_NAMES[:3] for name in pair[:2]]
    return not sys.platform.startswith("linux") or any(os.environ.get(name) for name in names)


def refuse_full_disk(kind):
    """Refuse to start an install that the disk has no room for."""
    need, free = DISK_NEEDED[kind], shutil.disk_usage(str(ROOT)).free / GIGABYTE
    if free < need:
        smaller = " (4 GB without CUDA, see docs/installing.md)" if kind == "cuda" else ""
        raise Refusal(
            "The disk is too full: {:.1f} GB are free, but the install needs about {} GB{}; "
            "free some space and run the same command again.".format(free, need, smaller)
        )


def make_venv(tool, version):
    """Make .venv with the Python that runs this file, unless one of `version` is there."""
    # From inside a .venv, which may just have been removed, it is the Python under it.
    base = getattr(sys, "_base_executable", None) or sys.executable
    if tool == "uv":
        if version is None:
            run_logged(["uv", "venv", "--allow-existing", "--python", base, str(VENV)])
        return
    if not (importlib.util.find_spec("venv") and importlib.util.find_spec("ensurepip")):
        raise Refusal(
            "This Python has no venv module, which Debian and Ubuntu put in a separate package: "
            "`sudo apt install python%s-venv`, then run this again." % dotted(this_python())
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
    run_logged(command + ["-r", "requirements.txt", "-c", "constraints.txt"])


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
        sys.stdout.write("\r" + ("      " + line.strip())[:width].ljust(width) + "\r")
        sys.stdout.flush()


def explain(output, tool):
    """Return a sentence that explains an installer's output, or else the end of that output."""
    for pattern, sentence in EXPLANATIONS:
        found = re.search(pattern, "\n".join(output))
        if found:
            what = next(filter(None, found.groupdict().values()), "")
            machine = (dotted(this_python()), platform.system(), platform.machine())
            by_pip = " (COURSE_INSTALLER=pip tries pip with all of pip's own settings.)"
            more = by_pip if tool == "uv" and sentence.startswith("No network") else ""
            return sentence.format(what=what, machine="Python {} {} {}".format(*machine)) + more
    noise = ("[notice]", "WARNING: Location", "Looking in ")
    lines = [line for line in output if line.strip() and not line.startswith(noise)]
    first = "The install failed. The end of .venv/course-install.log shows why:"
    return "\n  ".join([first] + lines[-8:])


# -- the command line ------------------------------------------------------------------------------


def command_named(words):
    """Return the command that the first word names; refuse a word that names none."""
    known = ", ".join(COMMANDS)
    if not words:
        raise Refusal("Choose a command: %s (`course.py --help` explains them)." % known)
    if words[0] not in COMMANDS:
        near = difflib.get_close_matches(words[0], COMMANDS, n=1)
        hint = "; did you mean %s?" % near[0] if near else "."
        raise Refusal("There is no command {!r}. There are: {}{}".format(words[0], known, hint))
    if words[0] in ("setup", "check") and words[1:]:
        more = " ".join(words[1:])
        raise Refusal("`{}` accepts no further words, but got: {}.".format(words[0], more))
    return words[0]


def start(words):
    """Do what the words ask for: setup here, the rest by helpers/course in the right Python."""
    command, fault = command_named(words), python_fault()
    if command == "check":
        return check(fault)
    if fault:
        raise Refusal(fault)
    if command in ("lab", "reset"):
        refuse_foreign(WORK)
    if command in ("reset", "workshop"):  # beside a .venv that does not work, too
        fits = version_of([PYTHON]) in SUPPORTED
        return go_on(PYTHON if fits else sys.executable, words)
    setup()
    return 0 if command == "setup" else go_on(PYTHON, words)


def check(fault):
    """Print which Pythons are here; one of them prints the rest, if it can."""
    rows = [("MISSING" if fault else "ok", "Python", fault or platform.python_version())]
    python = PYTHON if VENV.exists() else sys.executable
    version = version_of([python])
    where = ".venv" if VENV.exists() else "this Python, because there is no .venv"
    if version not in SUPPORTED:
        rows.append(("MISSING", "environment", where + ", which does not work: " + REPAIR))
        python = sys.executable
    elif VENV.exists() and not up_to_date(version):
        rows.append(("note", "environment", where + ", not up to date: " + REPAIR))
    else:
        rows.append(("ok", "environment", "{}, Python {}".format(where, dotted(version))))
    if fault and version not in SUPPORTED:
        return report(rows)
    return go_on(python, ["check"] + [word for row in rows for word in ("--row",) + row])


def report(rows):
    """Print a line for each thing that the course needs; return 0 if it can run here."""
    missing = []
    for mark, what, text in rows:
        say("{:9} {:14} {}".format(mark, what, text))
        missing += [what] if mark == "MISSING" else []
    names = ", ".join(missing)
    say("Not ready: %s first." % names if missing else "Ready: the course can run here.")
    return 1 if missing else 0


def go_on(python, words):
    """Go on in helpers/course, run by a Python that works.

    By its path, not by -m: what the front door opens may be missing, and `check` is to say so.
    """
    room = ROOT / "helpers" / "course" / "__main__.py"
    return hand_over([str(python), str(room)] + list(words), environment())


def hand_over(command, variables):
    """Run the last command of a start, in place of this process where the system can do that."""
    os.chdir(str(ROOT))
    if os.name == "posix":
        os.execve(command[0], command, variables)
    with subprocess.Popen(command, env=variables) as process:
        while True:
            try:
                return process.wait()
            except KeyboardInterrupt:
                pass  # it is the started program's to answer: JupyterLab asks before it stops


def guarded(command, words):
    """Run a command; return its exit code. A refusal is a sentence, never a traceback."""
    try:
        return command(words) or 0
    except Refusal as refusal:
        message = str(refusal)
    except OSError as error:
        message = explain_os(error)
    except KeyboardInterrupt:
        say("\nStopped. Run the same command again to repair what was left half done.")
        return 130
    sys.stderr.write("course.py: %s\n" % message)
    return 2


def explain_os(error):
    """Return a sentence about what the operating system refused."""
    if error.errno == errno.ENOSPC:
        return EXPLANATIONS[0][1]
    name = " (%s)" % error.filename if error.filename else ""
    reason = "{}{}".format(error.strerror or error, name)
    return reason + ": fix that and run the same command again."


def main(words):
    """Run one command; return its exit code. Words for JupyterLab and pytest go to them, -h too."""
    asked = {"-h", "--help"}.intersection(words[1:])
    if words[:1] in (["-h"], ["--help"], ["help"]) or asked and words[0] in OURS:
        say(__doc__.strip())
        return 0
    return guarded(start, words)


if __name__ == "__main__":
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")  # a terminal may lack a letter of a file's name
    sys.exit(main(sys.argv[1:]))
