"""What a command tells the person at the terminal: lines, refusals, exit codes."""

import argparse
import contextlib
import errno
import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence

DISK_FULL = (
    "The disk is full (this folder's, or the one for temporary files). "
    "Free some space and run the same command again."
)
STOPPED = "Stopped. Nothing is lost: run the same command again, and it goes on from here."


class CommandRefused(Exception):
    """One sentence that says what is wrong and what to do; printed instead of a traceback."""


class Parser(argparse.ArgumentParser):
    """A parser that refuses wrong words in one sentence."""

    def __init__(self, command: str):
        super().__init__(f"course.py {command}", allow_abbrev=False, exit_on_error=False)

    def error(self, message: str) -> None:
        """Raise CommandRefused with what argparse says of the words; argparse calls this."""
        command = self.prog.removeprefix("course.py ")
        raise CommandRefused(f"{command}: {message} (`{self.prog} --help` explains the words).")

    def read(self, words: Sequence[str]) -> argparse.Namespace:
        """Return what the words say; raise CommandRefused if they are wrong."""
        try:
            return self.parse_intermixed_args(words)
        except argparse.ArgumentError as error:
            self.error(str(error))


def say(text: str) -> None:
    """Print a line now, so that it comes before what a started program prints."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def report(rows: Iterable[tuple[str, str, str]]) -> int:
    """Print a line for each thing that the course needs; return 0 if it can run here.

    Parameters
    ----------
    rows : (mark, what, text)
        The mark is "ok", "note", "optional" or "MISSING".
    """
    missing = []
    for mark, what, text in rows:
        say(f"{mark:9} {what:14} {text}")
        if mark == "MISSING":
            missing.append(what)
    if missing:
        say(f"Not ready: {', '.join(missing)} first.")
        return 1
    say("Ready: the course can run here.")
    return 0


def explain_os_error(error: OSError) -> str:
    """Return a sentence about what the operating system refused."""
    if error.errno == errno.ENOSPC:
        return DISK_FULL
    place = f" ({error.filename})" if error.filename else ""
    return f"{error.strerror or error}{place}: fix that and run the same command again."


@contextlib.contextmanager
def stopping_signals() -> Iterator[None]:
    """In the block, let a request to end (SIGTERM, SIGHUP) come as Ctrl-C does."""
    names = [name for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {}
    for name in names:
        with contextlib.suppress(ValueError):  # not in the main thread
            number = getattr(signal, name)
            before[number] = signal.signal(number, signal.default_int_handler)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def run_guarded(command: Callable[[list[str]], int | None], words: list[str]) -> int:
    """Run a command with its words; return its exit code.

    A refusal is one sentence, never a traceback, and its code is 2. Ctrl-C is one sentence, too,
    and its code is 130.
    """
    try:
        return command(words) or 0
    except CommandRefused as refusal:
        message = str(refusal)
    except BrokenPipeError:  # whoever read the lines has gone, as `head` does
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 141
    except OSError as error:
        message = explain_os_error(error)
    except KeyboardInterrupt:
        say("\n" + STOPPED)
        return 130
    sys.stderr.write(f"course.py: {message}\n")
    return 2
