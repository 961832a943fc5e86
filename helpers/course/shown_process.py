"""Run a command, show its output while it runs, write it to a log, and return it."""

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

QUIET_SECONDS = 5  # between two lines of progress where stdout is no terminal


def run_shown(
    command: list[str], variables: dict[str, str], log: Path, lock: int | None
) -> tuple[int, str]:
    """Run a command and show its progress; return (exit code, output).

    If stdout is a terminal, the program draws its own progress bar there. Otherwise the last line
    of its output is printed every few seconds. Ctrl-C also stops the program.

    Parameters
    ----------
    command
        The program and its arguments.
    variables
        Its environment variables.
    log
        The path of the file to which the output is appended.
    lock
        A file descriptor that the program inherits, or None. A lock on the file is then held as
        long as the program runs, even if this process is killed.
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
        # The program has its own copy of this end. The output ends when all copies are closed.
        os.close(writing_end)
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
    """Open a pseudo-terminal of the same size as this terminal; return (reading end, writing end).

    A program that writes to a terminal draws a progress bar; one that writes to a pipe does not.
    """
    import fcntl
    import struct
    import termios

    reading_end, writing_end = os.openpty()
    size = shutil.get_terminal_size()
    packed = struct.pack("HHHH", size.lines, size.columns, 0, 0)
    fcntl.ioctl(writing_end, termios.TIOCSWINSZ, packed)
    return reading_end, writing_end


class ProcessOutput:
    """The output of a program: a thread reads it, writes it to the log, and shows it."""

    def __init__(self, reading_end: int, log: Path, on_terminal: bool):
        """Prepare to read from a file descriptor. `follow` reads it to its end and closes it.

        With `on_terminal` the output is copied to stdout as it is.
        """
        self._reading_end = reading_end
        self._log = log
        self._on_terminal = on_terminal
        self._parts: list[bytes] = []
        self._start = monotonic()

    def text(self) -> str:
        """Return the output until now, without escape sequences that move the cursor or colour."""
        printed = b"".join(self._parts).decode("utf-8", "replace")
        plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", printed)
        return plain.replace("\r\n", "\n").replace("\r", "\n")

    def follow(self) -> None:
        """Read and show the output; return when the program has closed it."""
        reader = threading.Thread(target=self._read, daemon=True)
        reader.start()
        shown_line = ""
        while reader.is_alive():
            reader.join(QUIET_SECONDS)  # returns after that time, or at the end of the output
            if reader.is_alive() and not self._on_terminal:
                shown_line = self._show_last_line(shown_line)

    def _read(self) -> None:
        """Read the output to its end; write it to the log and the terminal. Runs in a thread."""
        with os.fdopen(self._reading_end, "rb", buffering=0) as stream, self._open_log() as log:
            while True:
                part = self._read_part(stream)
                if not part:
                    return
                self._parts.append(part)
                with contextlib.suppress(OSError):  # on a full disk the output is still read
                    log.write(part)
                if self._on_terminal:
                    sys.stdout.buffer.write(part)
                    sys.stdout.buffer.flush()

    @staticmethod
    def _read_part(stream) -> bytes:
        """Wait for output and return it; b"" at the end."""
        try:
            return stream.read(1 << 16)
        except OSError:  # on Linux, a pseudo-terminal ends with this error
            return b""

    def _open_log(self):
        """Open the log to append to it; open the null device if the log cannot be opened."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
        try:
            return os.fdopen(os.open(self._log, flags), "ab", buffering=0)
        except OSError:
            return open(os.devnull, "ab", buffering=0)

    def _show_last_line(self, shown_line: str) -> str:
        """Print the seconds since the start and the newest line of output; return that line.

        If the newest line is `shown_line`, the line of the last call, only the seconds are printed.
        """
        lines = [line.strip() for line in self.text().splitlines() if line.strip()]
        newest = lines[-1] if lines else ""
        seconds = round(monotonic() - self._start)
        if newest == shown_line:
            say(f"      {seconds:3} s …")
        else:
            say(f"      {seconds:3} s  {newest[:88]}")
        return newest
