"""Source that may kill an interpreter -> what a child interpreter printed, and how it ended.

On Linux the children that need TensorFlow are forked from one process that has imported it and
done nothing else; all others are started anew, which takes as long as their imports do. Each works
in an empty folder of its own, and ends at the limit, on Ctrl-C and with the kernel.
"""

import os
import re

from helpers.capture.processes.function_source import portable
from helpers.capture.text.error import instead
from helpers.capture.text.value import brief
from helpers.model.transcript import Transcript, Transcripts
from helpers.safety import missing_parts, progress
from helpers.safety.children import CAN_FORK, Reply, ask, ask_fork

PREAMBLE = "import tensorflow as tf"
SECONDS = 60
LONGEST = 400
PRELOAD = ("triton", "tensorflow", "helpers.mini.eager")  # triton's LLVM before TensorFlow's
ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+|0x[0-9a-fA-F]+")
HOST = re.compile(r"(registered in binary running on )\S+(?=\. )")
QUALIFIED = re.compile(r"^(?:\w+\.)+(\w+)")
FRAMES = re.compile(r'Exception originated from\s*\n|^ +File ".*\n(?: {4}.*\n)*', re.MULTILINE)
PLACE = re.compile(r"(?:[A-Za-z]:)?[\\/][^\s'\"]*[\\/](?:site-packages|ipykernel_\d+)[\\/]")


def watch_in_child(*what, title: str = "", imports: str | None = None) -> Transcripts:
    """Run each function, or piece of source, in a child of its own and return what came of it.

    A function takes no arguments; what it uses of the notebook's functions, modules and plain
    values goes with it. In the child `tf` is TensorFlow, and no op has run yet, unless `imports`
    is other source. TypeError for what is neither; ValueError for a function whose source is not
    at hand; RuntimeError where there is no TensorFlow to import.
    """
    for name, words in (("title", title), ("imports", "" if imports is None else imports)):
        if type(words) is not str:
            raise TypeError(f"{name} must be text, not {brief(words)}")
    if not what:
        raise TypeError("watch_in_child needs a function, or a piece of source, to run")
    made = [_transcript(one, imports) for one in what]
    names = ", ".join(one.label for one in made if one.label)
    return Transcripts(title or f"In a child interpreter: {names}".removesuffix(": "), tuple(made))


def transcript(
    label: str, source: str, shown: str | None = None, imports: str | None = None
) -> Transcript:
    """Run source in a child. `shown` is what a reader sees of it, by default all."""
    with progress.doing("running a program in another process"):
        reply = run_child(source, imports=imports)
    error = QUALIFIED.sub(r"\1", plain(_one_line(reply["error"])))
    printed = "\n".join(map(plain, reply["printed"].splitlines()))
    shown = source if shown is None else shown
    return Transcript(label, shown, printed, error, reply["code"], reply["cut"])


def run_child(source: str, seconds: float = SECONDS, imports: str | None = None) -> dict:
    """Run source in a child; return its `printed`, its `error` (last line) and its exit `code`.

    A code below 0 is the signal that ended it. `cut`: "late" if the limit ended it, "large" if
    its memory did, "lost" if it ended the process that watched it; `told`: what it told on its own
    channel.
    """
    if CAN_FORK and imports is None:
        reply = ask_fork(PREAMBLE, source, seconds, PRELOAD)
        if failed := reply.last("failed"):
            if words := missing_parts.of_line(failed):
                raise missing_parts.MissingPart(words)
            raise RuntimeError(f"no child can be forked: {failed}")
        return _words(reply)
    whole = f"{PREAMBLE if imports is None else imports}\n{source}"
    env = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONFAULTHANDLER": ""}
    return _words(ask({"source": whole}, seconds, env))


def _words(reply: Reply) -> dict:
    ended = reply.ended
    return {
        "printed": ended.out,
        "error": reply.last("error", ""),
        "code": ended.code,
        "cut": next((why for why in ("late", "large", "lost") if getattr(ended, why)), ""),
        "told": reply.told,
    }


def plain(words: str) -> str:
    """Return a line without addresses, the machine's name and places on its disk."""
    words = words.rstrip().replace("\t", "    ")
    line = PLACE.sub("", HOST.sub(r"\1this machine", ADDRESS.sub("", words)))
    if len(line) <= LONGEST:
        return line
    return f"{line[: LONGEST - 40]}… and {len(line) - LONGEST + 40:,} characters more"


def _one_line(error: str) -> str:
    """Return a message without the stack that TensorFlow may put before it."""
    lines = FRAMES.sub("", error).split("\n")
    return " ".join(line.strip() for line in lines if line.strip())


def _transcript(what, imports: str | None) -> Transcript:
    if type(what) is str:
        if what.endswith(".py") and "\n" not in what:
            raise ValueError(
                f"a child runs source, and {brief(what)} is a file: give what is in it"
            )
        return transcript("", what, imports=imports)
    if not callable(what):
        raise TypeError(f"a child runs a function or source, not {brief(what)}{instead(what)}")
    source = portable(what)
    name = what.__code__.co_name
    source = f"{source}\n\n{name}()\n"
    return transcript(f"{name}()", source, shown="", imports=imports)
