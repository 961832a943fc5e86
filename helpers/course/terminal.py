"""Print lines, refuse wrong arguments and return exit codes, for the commands of `course.py`."""

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
    """A command cannot run. Its message is printed, a sentence on what is wrong and what to do."""


class Parser(argparse.ArgumentParser):
    """A parser of a command's arguments that raises CommandRefused if they are wrong."""

    def __init__(self, command: str):
        super().__init__(f"course.py {command}", allow_abbrev=False, exit_on_error=False)

    def error(self, message: str) -> None:
        """Raise CommandRefused with the message of argparse, which calls this method."""
        command = self.prog.removeprefix("course.py ")
        raise CommandRefused(f"{command}: {message} (`{self.prog} --help` explains the words).")

    def read(self, arguments: Sequence[str]) -> argparse.Namespace:
        """Parse the arguments of a command; raise CommandRefused if they are wrong."""
        try:
            return self.parse_intermixed_args(arguments)
        except argparse.ArgumentError as error:
            self.error(str(error))


def say(text: str) -> None:
    """Print a line at once, so that it comes before the output of a program started next."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def report(rows: Iterable[tuple[str, str, str]]) -> int:
    """Print the rows of `course.py check`; return 0 if the course can run here, else 1.

    Parameters
    ----------
    rows : (mark, what, text)
        A row for each thing that the course needs. The mark is "ok", "note", "optional" or
        "MISSING"; the course cannot run if one is "MISSING".
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
    """Return a sentence on an error of the operating system, and on what to do."""
    if error.errno == errno.ENOSPC:
        return DISK_FULL
    place = f" ({error.filename})" if error.filename else ""
    return f"{error.strerror or error}{place}: fix that and run the same command again."


@contextlib.contextmanager
def stopping_signals() -> Iterator[None]:
    """In a `with` block, make SIGTERM and SIGHUP raise KeyboardInterrupt, as Ctrl-C does.

    By default they would end the process at once, and a started installer would run on.
    """
    names = [name for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    handlers_before = {}  # signal number -> handler
    for name in names:
        with contextlib.suppress(ValueError):  # only the main thread can set handlers
            number = getattr(signal, name)
            handlers_before[number] = signal.signal(number, signal.default_int_handler)
    try:
        yield
    finally:
        for number, handler in handlers_before.items():
            signal.signal(number, handler)


def run_guarded(command: Callable[[list[str]], int | None], arguments: list[str]) -> int:
    """Call a command with its arguments; return the exit code.

    The code is 2 for CommandRefused and OSError, whose sentence is printed, 130 for Ctrl-C, and 141
    if the program that reads the output has ended. Any other error is a mistake in the course, and
    is raised.
    """
    try:
        return command(arguments) or 0
    except CommandRefused as refusal:
        message = str(refusal)
    except BrokenPipeError:  # the program that reads the output has ended, as `head` does
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
