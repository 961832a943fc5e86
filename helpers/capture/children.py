"""Source that may kill an interpreter -> what a child interpreter printed, and how it ended.

On Linux the children that need TensorFlow are forked from one process that has imported it and
done nothing else; all others are started anew, which takes as long as their imports do.
"""

import json
import os
import re
import signal
import subprocess
import sys
import threading
from functools import cache
from pathlib import Path

from helpers.capture.portable import portable
from helpers.model.transcript import Transcript, Transcripts

PREAMBLE = "import tensorflow as tf"
SECONDS = 60
NO_CORE = "import resource; resource.setrlimit(resource.RLIMIT_CORE, (0, 0))\n"  # no core dumps
LONGEST = 400
ROOT = Path(__file__).parents[2]
DRIVER = Path(__file__).with_name("child_driver.py")
CAN_FORK = sys.platform == "linux"
ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+|0x[0-9a-fA-F]+")
HOST = re.compile(r"(registered in binary running on )\S+(?=\. )")
QUALIFIED = re.compile(r"^(?:\w+\.)+(\w+)")
FRAMES = re.compile(r'Exception originated from\s*\n|^ +File ".*\n(?: {4}.*\n)*', re.MULTILINE)
PLACE = re.compile(r"(?:[A-Za-z]:)?[\\/][^\s'\"]*[\\/](?:site-packages|ipykernel_\d+)[\\/]")


def watch_child(*what, title: str = "", imports: str | None = None) -> Transcripts:
    """Run each function, or piece of source, in a child of its own and return what came of it.

    A function takes no arguments; what it uses of the notebook's functions, modules and plain
    values goes with it. In the child `tf` is TensorFlow, and no op has run yet, unless `imports`
    is other source. TypeError for what is neither; ValueError for a function whose source is not
    at hand.
    """
    made = [_transcript(one, imports) for one in what]
    names = ", ".join(one.label for one in made if one.label)
    return Transcripts(title or f"In a child interpreter: {names}".removesuffix(": "), tuple(made))


def transcript(
    label: str, source: str, shown: str | None = None, imports: str | None = None
) -> Transcript:
    """Run source in a child. `shown` is what a reader sees of it, by default all."""
    reply = run_child(source, imports=imports)
    error = QUALIFIED.sub(r"\1", plain(_one_line(reply["error"])))
    printed = "\n".join(map(plain, reply["printed"].splitlines()))
    return Transcript(label, source if shown is None else shown, printed, error, reply["code"])


def run_child(source: str, seconds: int = SECONDS, imports: str | None = None) -> dict:
    """Run source in a child; return its `printed`, its `error` (last line) and its exit `code`.

    A code below 0 is the signal that ended it.
    """
    if CAN_FORK and imports is None:
        return _forked(source, seconds)
    return _started(f"{PREAMBLE if imports is None else imports}\n{source}", seconds)


def plain(words: str) -> str:
    """Return a line without addresses, the machine's name and places on its disk."""
    words = words.rstrip().replace("\t", "    ")
    line = PLACE.sub("", HOST.sub(r"\1this machine", ADDRESS.sub("", words)))
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


def _one_line(error: str) -> str:
    """Return a message without the stack that TensorFlow may put before it."""
    lines = FRAMES.sub("", error).split("\n")
    return " ".join(line.strip() for line in lines if line.strip())


def _transcript(what, imports: str | None) -> Transcript:
    if isinstance(what, str):
        return transcript("", what, imports=imports)
    if not callable(what):
        raise TypeError(f"a child runs a function or source, not {type(what).__name__}")
    source = f"{portable(what)}\n\n{what.__name__}()\n"
    return transcript(f"{what.__name__}()", source, shown="", imports=imports)


def _started(source: str, seconds: int) -> dict:
    limit = NO_CORE if sys.platform != "win32" else ""
    try:
        done = subprocess.run(
            [sys.executable, "-c", limit + source],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": "0", "PYTHONFAULTHANDLER": ""},
            capture_output=True,
            text=True,
            errors="replace",
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {"printed": "", "error": "", "code": -int(signal.SIGTERM)}
    last = done.stderr.strip().splitlines()[-1:] if done.returncode == 1 else []
    return {"printed": done.stdout, "error": "".join(last), "code": done.returncode}


def _forked(source: str, seconds: int) -> dict:
    with _LOCK:
        try:
            return _parent().ask(source, seconds)
        except (OSError, json.JSONDecodeError):  # it was killed: begin again, once
            _parent.cache_clear()
            return _parent().ask(source, seconds)


_LOCK = threading.Lock()


@cache
def _parent():
    return _Parent()


class _Parent:
    """The process that has imported TensorFlow and forks."""

    def __init__(self):
        command = [sys.executable, "-P", str(DRIVER)]
        self._process = subprocess.Popen(
            command,
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,  # an interrupted kernel leaves it alone
        )
        ready = f"{PREAMBLE}\n__import__('helpers.mini.eager')\n"
        self._tell(f"import sys\nsys.path.insert(0, {str(ROOT)!r})\n{ready}")

    def ask(self, source: str, seconds: int) -> dict:
        self._tell({"source": source, "seconds": seconds})
        return json.loads(self._process.stdout.readline())

    def _tell(self, request) -> None:
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
