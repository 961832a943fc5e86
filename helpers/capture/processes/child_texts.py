"""What a child process printed or raised -> the same text without what differs between machines."""

import re

from ...model.phrase import clip_text

LONGEST = 400  # characters of a line
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+|0x[0-9a-fA-F]+")
# TensorFlow names the machine in the error of an op that it does not know.
_HOST = re.compile(r"(registered in binary running on )\S+(?=\. )")
# A path up to the installed packages, or up to the temporary file of a cell.
_FOLDER = re.compile(r"(?:[A-Za-z]:)?[\\/][^\s'\"]*[\\/](?:site-packages|ipykernel_\d+)[\\/]")
# TensorFlow may put a stack of calls before its message.
_STACK = re.compile(r'Exception originated from\s*\n|^ +File ".*\n(?: {4}.*\n)*', re.MULTILINE)
_QUALIFIED_NAME = re.compile(r"^(?:\w+\.)+(\w+)")


def hide_machine(line: str) -> str:
    """Return a line without addresses in memory, the machine's name, and folders of its disk."""
    line = line.rstrip().replace("\t", "    ")
    line = _ADDRESS.sub("", line)
    line = _HOST.sub(r"\1this machine", line)
    line = _FOLDER.sub("", line)
    return clip_text(line, LONGEST)


def format_error(error: str) -> str:
    """Return an exception of a child as one line, as in "ValueError: bad shape".

    `error` is its text at the end of a traceback. A stack of calls in it is left out, and so is the
    module before the class.
    """
    lines = [line.strip() for line in _STACK.sub("", error).split("\n")]
    text = hide_machine(" ".join(filter(None, lines)))
    return _QUALIFIED_NAME.sub(r"\1", text)
