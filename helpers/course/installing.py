"""uv or pip -> packages in an environment, with progress that one sees and a reason for a failure.

uv is a package of the index like any other, and several times as fast as pip. It is put into the
new environment first. pip takes over where uv has no build, or fails.
"""

import ast
import contextlib
import os
import platform
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from time import monotonic

from helpers.course import checkout
from helpers.course.terminal import DISK_FULL, Refusal, say

UV = "uv==0.13.9"
LOG_NAME = "course-install.log"
QUIET_SECONDS = 5  # between two lines of progress in a file or a pipe

# What pip calls a setting; what uv calls it, and what uv puts between several values.
UV_NAMES = {
    "index-url": ("UV_DEFAULT_INDEX", " "),
    "extra-index-url": ("UV_INDEX", " "),
    "find-links": ("UV_FIND_LINKS", ","),
    "constraint": ("UV_CONSTRAINT", " "),
    "cert": ("SSL_CERT_FILE", " "),
    "client-cert": ("SSL_CLIENT_CERT", " "),
    "trusted-host": ("UV_INSECURE_HOST", " "),
    "proxy": ("ALL_PROXY", " "),
    "timeout": ("UV_HTTP_TIMEOUT", " "),
    "default-timeout": ("UV_HTTP_TIMEOUT", " "),
    "no-index": ("UV_NO_INDEX", " "),
    "keyring-provider": ("UV_KEYRING_PROVIDER", " "),
}
# Sections of pip's configuration that count for `pip install`; the later ones win.
PIP_SECTIONS = ("global", "install", ":env:")

NO_NETWORK = (
    "No network: the package index cannot be reached. Connect (behind a proxy, set HTTPS_PROXY; "
    "for an index of your own, PIP_INDEX_URL) and run the same command again."
)
# What an installer prints -> what that means. The first one found counts, and the order matters:
# without a network pip finds no version of anything either.
EXPLANATIONS = (
    (
        r"No space left on device|\[Errno 28\]|os error (28|112)\b|not enough space on the disk",
        DISK_FULL,
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
        r"|error sending request|operation timed out|Connection reset|Failed to establish",
        NO_NETWORK,
    ),
    (
        r"No matching distribution found for (?P<pip_name>[^\s;]+)"
        r"|Because (?P<uv_name>\S+) has no wheels with a matching",
        "The course needs {package}, but no index offers a build of it for this machine "
        "({machine}).",
    ),
)


class InstallFailed(Exception):
    """An installer failed. `why` is a sentence about it; `known` says whether we know the cause."""

    def __init__(self, why: str, known: bool):
        super().__init__(why)
        self.why = why
        self.known = known


def explain(output: str) -> InstallFailed:
    """Return what an installer's output says about its failure, or else the end of the output."""
    for pattern, sentence in EXPLANATIONS:
        found = re.search(pattern, output)
        if found:
            package = next(filter(None, found.groupdict().values()), "")
            python = f"{sys.version_info.major}.{sys.version_info.minor}"
            machine = f"Python {python} {platform.system()} {platform.machine()}"
            return InstallFailed(sentence.format(package=package, machine=machine), known=True)
    noise = ("[notice]", "WARNING: Location", "Looking in ")
    lines = [line for line in output.splitlines() if line.strip() and not line.startswith(noise)]
    first = f"The install failed. The end of {checkout.NEW.name}/{LOG_NAME} shows why:"
    return InstallFailed("\n  ".join([first, *lines[-8:]]), known=False)


class Installer:
    """Installs packages into one environment.

    Parameters
    ----------
    folder : Path
        The environment that packages are installed into. Its Python has pip.
    lock : int or None
        A file descriptor that the started programs inherit, so that the lock on it ends with them.
    """

    def __init__(self, folder: Path, lock: int | None = None):
        self.folder = folder
        self.python = folder / checkout.PYTHON_INSIDE
        self.log = folder / LOG_NAME
        self._lock = lock

    def install(self, *words: str) -> str:
        """Install what the words name, as in `pip install`; return "uv" or "pip".

        Raises
        ------
        Refusal
            One sentence that explains why neither could.
        """
        wanted = wanted_installer()
        failure = None
        if wanted != "pip":
            try:
                self._install_with_uv(words)
                return "uv"
            except InstallFailed as failed:
                failure = failed
            if failure.why == DISK_FULL or wanted == "uv":
                raise Refusal(failure.why)
            if failure.why != NO_NETWORK:
                say("      uv could not do it, so pip tries.")
        try:
            self._install_with_pip(words)
        except InstallFailed as failed:
            raise Refusal(failed.why) from None
        return "pip"

    def _install_with_uv(self, words: tuple[str, ...]) -> None:
        uv = self._uv()
        command = [uv, "pip", "install", "--python", str(self.python)]
        # As with pip, the best version of all indexes counts, not the first index with any version.
        command += ["--index-strategy", "unsafe-best-match", *words]
        variables = self._uv_variables()
        try:
            self._run(command, variables)
        except InstallFailed as failed:
            if failed.why != NO_NETWORK:
                raise
            try:
                self._run([*command, "--offline"], variables)
            except InstallFailed:
                raise failed from None

    def _uv(self) -> str:
        """Return uv: that of the environment, else that of the one before; else it is installed."""
        for folder in (self.folder, checkout.VENV):
            place = folder / checkout.PYTHON_INSIDE.with_name("uv.exe" if os.name == "nt" else "uv")
            answer = checkout.ask([place, "--version"]) or ""
            if answer.split()[1:2] == [UV.partition("==")[2]]:
                return str(place)
        self._install_with_pip((UV,), retries="1")
        place = self.python.with_name("uv.exe" if os.name == "nt" else "uv")
        if checkout.ask([place, "--version"]) is None:
            raise InstallFailed("uv does not start on this machine.", known=True)
        return str(place)

    def _install_with_pip(self, words: tuple[str, ...], retries: str = "") -> None:
        variables = pip_variables()
        if retries:
            variables.setdefault("PIP_RETRIES", retries)
        command = [str(self.python), "-m", "pip", "install", "--no-input"]
        self._run([*command, "--disable-pip-version-check", *words], variables)

    def _uv_variables(self) -> dict[str, str]:
        """Return the variables for uv: pip's settings, from its files too, under uv's names."""
        variables = pip_variables()
        listed = checkout.ask([self.python, "-m", "pip", "config", "list"]) or ""
        for name, value in pip_settings(listed).items():
            uv_name, between = UV_NAMES[name]
            variables.setdefault(uv_name, between.join(value.split()))
        return variables

    def _run(self, command: list[str], variables: dict[str, str]) -> None:
        """Run an installer, its output in the log; raise InstallFailed with an explanation."""
        code, output = run_shown(command, variables, self.log, self._lock)
        if code:
            raise explain(output)


def wanted_installer() -> str:
    """Return what COURSE_INSTALLER asks for: "uv", "pip" or ""; Refusal for another word."""
    wanted = os.environ.get("COURSE_INSTALLER", "")
    if wanted not in ("", "pip", "uv"):
        raise Refusal(f"COURSE_INSTALLER is {wanted!r}, but it must be pip or uv.")
    return wanted


def pip_variables() -> dict[str, str]:
    """Return the variables for pip."""
    variables = checkout.start_environment()
    variables["PIP_USER"] = "0"  # some machines set it for all; in an environment it is an error
    return variables


def pip_settings(listed: str) -> dict[str, str]:
    """Return the settings that `pip config list` printed and that uv knows, by pip's names."""
    found = {section: {} for section in PIP_SECTIONS}
    for line in listed.splitlines():
        key, _, quoted = line.partition("=")
        section, _, name = key.rpartition(".")
        if section in found and name in UV_NAMES:
            with contextlib.suppress(ValueError, SyntaxError):
                found[section][name] = str(ast.literal_eval(quoted))
    return found["global"] | found["install"] | found[":env:"]


# -- progress --------------------------------------------------------------------------------------


def run_shown(
    command: list[str], variables: dict[str, str], log: Path, lock: int | None
) -> tuple[int, str]:
    """Run a command, its output in a log, and show that it goes on; return exit code and output.

    On a terminal the program draws its own bar there. In a file or a pipe a line comes every few
    seconds. Ctrl-C stops the program, too.
    """
    on_terminal = os.name == "posix" and sys.stdout.isatty()
    reading_end, writing_end = open_terminal() if on_terminal else os.pipe()
    inherited = () if lock is None or os.name == "nt" else (lock,)
    process = None
    try:
        process = subprocess.Popen(
            command,
            cwd=checkout.ROOT,
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=writing_end,
            stderr=writing_end,
            pass_fds=inherited,
        )
    finally:
        os.close(writing_end)
        if process is None:
            os.close(reading_end)
    output = Output(reading_end, log, on_terminal)
    try:
        output.follow()
        return process.wait(), output.text()
    except BaseException:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
        raise


def open_terminal() -> tuple[int, int]:
    """Return both ends of a terminal that is as wide as this one."""
    import fcntl
    import struct
    import termios

    reading_end, writing_end = os.openpty()
    size = shutil.get_terminal_size()
    packed = struct.pack("HHHH", size.lines, size.columns, 0, 0)
    fcntl.ioctl(writing_end, termios.TIOCSWINSZ, packed)
    return reading_end, writing_end


class Output:
    """What a program prints: read by a thread, written to the log, and shown."""

    def __init__(self, reading_end: int, log: Path, on_terminal: bool):
        self._reading_end = reading_end
        self._log = log
        self._on_terminal = on_terminal
        self._parts: list[bytes] = []
        self._start = monotonic()

    def text(self) -> str:
        """Return what was printed until now, without what only moves and colours a terminal."""
        printed = b"".join(self._parts).decode("utf-8", "replace")
        plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", printed)
        return plain.replace("\r\n", "\n").replace("\r", "\n")

    def follow(self) -> None:
        """Return when the program has closed its output."""
        reader = threading.Thread(target=self._read, daemon=True)
        reader.start()
        shown = ""
        while reader.is_alive():
            reader.join(QUIET_SECONDS)
            if reader.is_alive() and not self._on_terminal:
                shown = self._show_last_line(shown)

    def _read(self) -> None:
        with os.fdopen(self._reading_end, "rb", buffering=0) as stream, self._open_log() as log:
            while part := self._read_part(stream):
                self._parts.append(part)
                with contextlib.suppress(OSError):  # a full disk ends the install, not its reader
                    log.write(part)
                if self._on_terminal:
                    sys.stdout.buffer.write(part)
                    sys.stdout.buffer.flush()

    @staticmethod
    def _read_part(stream) -> bytes:
        try:
            return stream.read(1 << 16)
        except OSError:  # a terminal ends so on Linux
            return b""

    def _open_log(self):
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
        try:
            return os.fdopen(os.open(self._log, flags), "ab", buffering=0)
        except OSError:
            return open(os.devnull, "ab", buffering=0)

    def _show_last_line(self, shown: str) -> str:
        """Print the newest line with the seconds until now; return it."""
        lines = [line.strip() for line in self.text().splitlines() if line.strip()]
        newest = lines[-1] if lines else ""
        seconds = round(monotonic() - self._start)
        if newest == shown:
            say(f"      {seconds:3} s …")
        else:
            say(f"      {seconds:3} s  {newest[:88]}")
        return newest
