"""A command -> its exit code and its output, which is written to a log and shown meanwhile."""

import contextlib
import os
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from time import monotonic

from helpers.course import checkout
from helpers.course.terminal import say

QUIET_SECONDS = 5  # between two lines of progress in a file or a pipe


def run_shown(
    command: list[str], variables: dict[str, str], log: Path, lock: int | None
) -> tuple[int, str]:
    """Run a command, its output in a log, and show that it goes on; return exit code and output.

    On a terminal the program draws its own bar there. In a file or a pipe a line comes every few
    seconds. Ctrl-C stops the program, too. `lock` is the file descriptor of a lock, or None: the
    program inherits it, so that the lock lasts as long as the program.
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
        os.close(writing_end)  # the program has it; the output ends when nobody has it any more
        if process is None:  # it could not be started
            os.close(reading_end)
    output = ProcessOutput(reading_end, log, on_terminal)
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


class ProcessOutput:
    """What a program prints: read by a thread, written to the log, and shown."""

    def __init__(self, reading_end: int, log: Path, on_terminal: bool):
        """Prepare to read from a file descriptor; `follow` does so, and closes it."""
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
        """Read and show the output, and return when the program has closed it."""
        reader = threading.Thread(target=self._read, daemon=True)
        reader.start()
        shown = ""
        while reader.is_alive():
            reader.join(QUIET_SECONDS)  # waits no longer than that
            if reader.is_alive() and not self._on_terminal:
                shown = self._show_last_line(shown)

    def _read(self) -> None:
        """Read the output to its end, into the log and onto a terminal. Runs in a thread."""
        with os.fdopen(self._reading_end, "rb", buffering=0) as stream, self._open_log() as log:
            while True:
                part = self._read_part(stream)
                if not part:
                    return
                self._parts.append(part)
                with contextlib.suppress(OSError):  # a full disk ends the install, not its reader
                    log.write(part)
                if self._on_terminal:
                    sys.stdout.buffer.write(part)
                    sys.stdout.buffer.flush()

    @staticmethod
    def _read_part(stream) -> bytes:
        """Return what there is to read, after waiting for it; b"" at the end."""
        try:
            return stream.read(1 << 16)
        except OSError:  # a terminal ends so on Linux
            return b""

    def _open_log(self):
        """Return the log, open at its end; a file that keeps nothing if it cannot be opened."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
        try:
            return os.fdopen(os.open(self._log, flags), "ab", buffering=0)
        except OSError:
            return open(os.devnull, "ab", buffering=0)

    def _show_last_line(self, shown: str) -> str:
        """Print the newest line with the seconds until now; return the line.

        `shown` is the line that was returned the last time: it is not printed twice.
        """
        lines = [line.strip() for line in self.text().splitlines() if line.strip()]
        newest = lines[-1] if lines else ""
        seconds = round(monotonic() - self._start)
        if newest == shown:
            say(f"      {seconds:3} s …")
        else:
            say(f"      {seconds:3} s  {newest[:88]}")
        return newest
