"""What a verb gave -> its text, HTML and widget state; a call -> why it was not borne."""

import json
import re
import signal
import traceback
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

from helpers.safety.users_frames import is_library

LONGEST = 120  # seconds for one call
MOST = 1_000_000  # characters of text or HTML, and bytes of widget state
MOST_WORDS = 600  # characters of a refusal
HOUSE = str(Path(__file__).parents[2] / "helpers")
SIGNATURE = re.compile(r"takes .* argument|unexpected keyword|missing \d+ required|multiple values")
BAD = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u200e\u200f\ud800-\udfff]")


class Hang(BaseException):
    """A call took longer than it may."""


@contextmanager
def limit(seconds):
    """Raise Hang in the block when its time is over."""

    def over(number, frame):
        signal.setitimer(signal.ITIMER_REAL, 1)  # again, if somebody catches it
        raise Hang

    before = signal.signal(signal.SIGALRM, over)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def rendered(exhibit) -> tuple[str, str, int]:
    """Return text, HTML and the bytes of widget state of what a verb returned."""
    text, html, state = repr(exhibit), "", 0
    if hasattr(type(exhibit), "_repr_mimebundle_"):
        from ipywidgets.widgets import widget

        before = set(widget._instances)
        bundle = exhibit._repr_mimebundle_()
        data = bundle[0] if isinstance(bundle, tuple) else bundle
        json.dumps(data, ensure_ascii=False).encode("utf-8")
        html = data.get("text/html", "")
        for key in set(widget._instances) - before:
            made = widget._instances[key]
            kept = {k: v for k, v in made.get_state().items() if k not in ("_esm", "_css")}
            state += len(json.dumps(kept, default=str).encode("utf-8"))
    return text, html, state


def fault_of(call, refused: bool = False) -> str:
    """Return why a call was not borne; "" if it returned an exhibit or refused in one sentence.

    `refused`: only a refusal will do.
    """
    try:
        with limit(LONGEST), redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            words = shown_badly(*rendered(call()))
    except Hang:
        return "hangs"
    except BaseException as error:
        return unfit(error)
    return "was not refused" if refused else words


def shown_badly(text: str, html: str, state: int) -> str:
    """Return what is wrong with an exhibit's forms, or ""."""
    if max(len(html), state, len(text)) > MOST:
        return f"too large: text {len(text)}, HTML {len(html)}, state {state}"
    for form, words in (("text", text), ("HTML", html)):
        if found := BAD.search(words):
            return f"the {form} contains {found[0]!r}"
    return "unescaped markup" if "<script>alert" in html else ""


def unfit(error: BaseException) -> str:
    """Return why an error is no refusal in one sentence by the house, or ""."""
    name, words = type(error).__name__, str(error)
    if not isinstance(error, Exception):
        return f"{name} escapes"
    if not words.strip() or "\n" in words.strip() or len(words) > MOST_WORDS or BAD.search(words):
        return f"{name} in no one sentence ({len(words)} characters): {words[:80]!r}"
    frame, line = list(traceback.walk_tb(error.__traceback__))[-1]
    file = frame.f_code.co_filename
    # A refusal ends at the caller's own frame; an error of the house's own code ends in it.
    if is_library(file) and not file.startswith(HOUSE) and not SIGNATURE.search(words):
        return f"{name} from {Path(file).name}:{line}: {words[:120]}"
    return ""
