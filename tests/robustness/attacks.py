"""A verb and a kind of attack -> what was tried, and each case in which the verb did not bear it.

Run as a script in a child of its own, since what is tried may hang or kill:
`python -m tests.robustness.attacks KIND VERB [KIND VERB …] [--sample N] [--seed N]` prints a JSON
line for each pair.
"""

import argparse
import dis
import gc
import json
import math
import os
import random
import re
import signal
import sys
import tempfile
import threading
import time
import traceback
from _signal import getsignal
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

KINDS = ("hostile", "misuse", "interrupt", "scale")
LONGEST = 120  # seconds for one call
PATIENCE = 600  # CPU seconds for all moments of one verb; how many they were is told
MOST = 1_000_000  # bytes of HTML, and of widget state
MOST_WORDS = 600  # characters of a refusal
HOUSE = str(Path(__file__).parents[2] / "helpers")
SIGNATURE = re.compile(r"takes .* argument|unexpected keyword|missing \d+ required|multiple values")
BAD = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u200e\u200f\ud800-\udfff]")
CUT = re.compile(r"more|left out|first \d|folded|shown|not all|of \d|only|…", re.IGNORECASE)


class Hang(BaseException):
    """A call took longer than it may."""


@contextmanager
def limit(seconds):
    """Raise Hang in the block when its time is over."""

    def over(number, frame):
        signal.setitimer(signal.ITIMER_REAL, 1)  # again, if somebody catches it
        raise Hang

    signal.signal(signal.SIGALRM, over)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def rendered(exhibit) -> tuple[str, str, int]:
    """Return text, HTML and the bytes of widget state of what a verb gave."""
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


def fault_of(call, runs: bool = False, refused: bool = False) -> str:
    """Return in which way a call was not borne; "" if it gave an exhibit or a refusal.

    `refused`: only a refusal will do.
    """
    from tests.robustness import zoo

    zoo.RAN.clear()
    printed = StringIO()
    try:
        with limit(LONGEST), redirect_stdout(printed), redirect_stderr(printed):
            given = call()
            ran = list(zoo.RAN)
            words = _shown_badly(*rendered(given))
    except Hang:
        return "hangs"
    except BaseException as error:
        ran = list(zoo.RAN)
        own_end = runs and ran and not isinstance(error, Exception)
        words = "" if own_end else _unfit(error)
    else:
        if refused:
            return "was not refused"
    if ran and not runs:
        return words or f"ran {ran[0]}"
    return words


def _shown_badly(text: str, html: str, state: int) -> str:
    if len(html) > MOST or state > MOST or len(text) > MOST:
        return f"too large: text {len(text)}, HTML {len(html)}, state {state}"
    if found := BAD.search(text):
        return f"the text holds {found[0]!r}"
    if found := BAD.search(html):
        return f"the HTML holds {found[0]!r}"
    return "unescaped markup" if "<script>alert" in html else ""


def _unfit(error: BaseException) -> str:
    """Return why an error is no refusal in one sentence by the house."""
    if not isinstance(error, Exception):
        return f"{type(error).__name__} escapes"
    try:
        words = str(error)
    except BaseException:
        words = ""
    frames = list(traceback.walk_tb(error.__traceback__))
    frame, _ = frames[-1]
    last = error.__traceback__
    while last.tb_next is not None:
        last = last.tb_next
    name = type(error).__name__
    if not words.strip() or "\n" in words.strip() or len(words) > MOST_WORDS or BAD.search(words):
        return f"{name} in no one sentence ({len(words)} characters): {words[:80]!r}"
    if SIGNATURE.search(words) and isinstance(error, TypeError):
        return ""
    where = frame.f_code.co_filename
    if not where.startswith(HOUSE):
        return f"{name} from {Path(where).name}:{last.tb_lineno}: {words[:120]}"
    if not _raises(frame.f_code, last.tb_lasti):
        return f"{name} from inside {Path(where).name}:{last.tb_lineno}: {words[:120]}"
    return ""


def _raises(code, offset: int) -> bool:
    """Tell whether the instruction at an offset is a `raise`, not an accident."""
    here = (i.opname for i in dis.get_instructions(code) if i.offset == offset)
    return next(here, "") in ("RAISE_VARARGS", "RERAISE")


# -- the four attacks ------------------------------------------------------------------------------


def zoo_of(subject) -> dict:
    """Return the makers of the objects that are put to a subject's verb."""
    from tests.robustness import zoo

    makers = dict(zoo.MAKERS)
    if subject.imports in ("torch", "both"):
        makers |= zoo.torch_makers()
    if subject.imports in ("tensorflow", "both"):
        makers |= zoo.tensorflow_makers()
    return makers


def hostile(subject, sample: int, rng: random.Random) -> dict:
    """Put every object of the zoo to a verb: to be looked at, and in place of each argument."""
    makers = zoo_of(subject)
    names = sorted(makers) if not sample else rng.sample(sorted(makers), min(sample, len(makers)))
    faults, tried = [], 0
    ways = [("looked at", way) for way in subject.looks]
    ways += [("argument", way) for way in subject.wrong]
    for name in names:
        for number, (word, way) in enumerate(ways):
            thing, tried = makers[name](), tried + 1
            _progress(f"{name} {word} {number}")
            fault = fault_of(lambda way=way, thing=thing: way(thing), subject.runs)
            if fault:
                faults.append(f"{name} as {word} {number}: {fault}")
    return {"tried": tried, "faults": faults}


def misuse(subject, sample: int, rng: random.Random) -> dict:
    """Use a verb wrongly in each known way: one sentence is due."""
    faults = []
    for number, call in enumerate(subject.misuse):
        _progress(f"misuse {number}")
        fault = fault_of(call, subject.runs, refused=True)
        if fault:
            faults.append(f"misuse {number}: {fault}")
    return {"tried": len(subject.misuse), "faults": faults}


def interrupt(subject, sample: int, rng: random.Random) -> dict:
    """Interrupt a run at random moments: nothing may be left behind, and the next run is right."""
    quiet = StringIO()
    with redirect_stdout(quiet), redirect_stderr(quiet):
        subject.quick()
        expected = _same_words(subject.quick())
    whole = min(_seconds(subject.quick) for _ in range(3))
    signal.signal(signal.SIGALRM, signal.SIG_IGN)  # as after each press
    before, faults, came = _state(), [], 0
    moments = min(sample or subject.moments, subject.moments)
    start, tried = time.process_time(), 0
    for number in range(moments):
        if time.process_time() - start > PATIENCE:
            break
        tried += 1
        _progress(f"moment {number}")
        came += _interrupted(subject.quick, rng.uniform(0, 1.05 * whole))
        left = _left(before, _state(1)) and _left(before, _state())
        if left:
            faults.append(f"moment {number}: {left}")
            before = _state()
    with redirect_stdout(quiet), redirect_stderr(quiet):
        again = _same_words(subject.quick())
    if again != expected:
        faults.append("the next run gives something else")
    return {"tried": tried, "came": came, "faults": faults}


def _same_words(exhibit) -> str:
    """Return the text form without figures, which may differ from run to run."""
    return re.sub(r"[\d.,█ |-]+|about|less than a tenth of one", "", repr(exhibit))


def _interrupted(run, seconds: float) -> bool:
    """Run, and press Ctrl-C after so many seconds; tell whether it arrived as an exception."""
    quiet, armed = StringIO(), True

    def press(number, frame):
        if armed:
            getsignal(signal.SIGINT)(signal.SIGINT, frame)  # in C: builtins may be patched

    stdout, stderr = sys.stdout, sys.stderr
    sys.stdout = sys.stderr = quiet
    signal.signal(signal.SIGALRM, press)
    try:
        signal.setitimer(signal.ITIMER_REAL, max(seconds, 1e-6))
        run()
        return False
    except KeyboardInterrupt:
        return True
    except Exception as error:
        _ODD.append(f"{type(error).__name__} instead of KeyboardInterrupt: {error}"[:300])
        return False
    finally:
        armed = False  # no call, so no moment at which a late alarm could come through
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_IGN)
        if sys.stdout is not quiet:
            _ODD.append("sys.stdout")
        sys.stdout, sys.stderr = stdout, stderr


_ODD: list[str] = []


def _state(generation: int = 2) -> dict:
    """Return what a verb has to leave as it was; young garbage alone is collected much faster."""
    import psutil

    from helpers.safety.kept_state import KEPT
    from helpers.safety.patches import PATCHES

    gc.collect(generation)
    me = psutil.Process()
    return {
        **{kept.name: (kept, kept.read()) for kept in KEPT},
        "SIGINT": signal.getsignal(signal.SIGINT),
        "patches": len(PATCHES),
        "threads": sorted(t.name for t in threading.enumerate() if not t.daemon),
        "children": sorted(c.pid for c in me.children() if "resource_tracker" not in _line(c)),
        "descriptors": me.num_fds(),
        "temporary files": sorted(os.listdir(tempfile.gettempdir())),
        "cwd": os.getcwd(),
    }


def _line(process) -> str:
    try:
        return " ".join(process.cmdline())
    except Exception:
        return ""


def _left(before: dict, now: dict) -> str:
    left = list(_ODD)
    _ODD.clear()
    for name, was in before.items():
        if isinstance(was, tuple) and len(was) == 2 and hasattr(was[0], "same"):
            if not was[0].same(now[name][1], was[1]):
                left.append(name)
        elif name == "descriptors":
            left += [name] if now[name] > was + 2 else []
        elif now[name] != was:
            left.append(f"{name}: {str(was)[:60]} -> {str(now[name])[:60]}")
    return ", ".join(left)


def scale(subject, sample: int, rng: random.Random) -> dict:
    """Run a verb on the largest sensible thing and on one ten times as large; compare.

    `ratio` is the CPU time of 10 n in that of n: the median of three pairs, where there is time
    for three; `spread` their least and greatest, `bound` what n log n would give.
    """
    with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        rendered(subject.scale(3))  # imports, caches
    n = subject.largest
    small, large = _sized(subject, n), _sized(subject, 10 * n)
    faults = [*small["faults"], *large["faults"]]
    if faults:
        return {"tried": 10 * n, "faults": faults}
    short = large["text"] < 8 * small["text"] and not subject.all_shown
    if short and not CUT.search(large["words"]):
        faults.append(f"size {10 * n}: nothing says what is left out")
    pairs = [large["seconds"] / small["seconds"]]
    for _ in range(2 if large["seconds"] < 5 else 0):
        again = _sized(subject, n), _sized(subject, 10 * n)
        pairs.append(again[1]["seconds"] / again[0]["seconds"])
    pairs.sort()
    found = {key: large[key] for key in ("text", "html", "state")}
    return found | {
        "tried": 10 * n,
        "faults": faults,
        "ratio": round(pairs[len(pairs) // 2], 1),
        "spread": [round(pairs[0], 1), round(pairs[-1], 1)],
        "bound": round(10 * math.log(10 * n) / math.log(n), 1),
    }


def _sized(subject, n: int) -> dict:
    """Return the sizes of what a verb gives for size n, and the CPU seconds that it took."""
    _progress(f"size {n}")
    try:
        with limit(120), redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            start = time.process_time()
            text, html, state = rendered(subject.scale(n))
            seconds = time.process_time() - start
    except Hang:
        return {"faults": [f"size {n}: more than 120 s"]}
    except BaseException as error:
        return {"faults": [f"size {n}: {type(error).__name__}: {error}"[:300]]}
    large = max(len(html), state) > MOST
    faults = [f"size {n}: HTML {len(html):,}, state {state:,}"] if large else []
    sizes = {"text": len(text), "html": len(html), "state": state, "words": text}
    return sizes | {"faults": faults, "seconds": max(seconds, 1e-6)}


# -- as a script -----------------------------------------------------------------------------------


def _seconds(run) -> float:
    quiet, start = StringIO(), time.perf_counter()
    with redirect_stdout(quiet), redirect_stderr(quiet):
        run()
    return time.perf_counter() - start


def _progress(words: str) -> None:
    """Write down what is tried now: what kills the process is known by the last line."""
    print(f"# {words}", file=sys.__stderr__, flush=True)


def attack(kind: str, verb: str, sample: int = 0, seed: int = 0) -> dict:
    """Attack one verb in this process."""
    from tests.robustness.subjects import SUBJECTS

    subject = SUBJECTS[verb]
    because = dict(subject.because).get(kind)
    if because:
        return {"tried": 0, "faults": [], "because": because}
    import_of(subject)
    rng = random.Random(f"{kind} {verb} {seed}")
    return {"hostile": hostile, "misuse": misuse, "interrupt": interrupt, "scale": scale}[kind](
        subject, sample, rng
    )


def import_of(subject) -> None:
    """Import the frameworks that a subject needs: torch first."""
    if subject.imports in ("torch", "both"):
        import torch  # noqa: F401
    if subject.imports in ("tensorflow", "both"):
        import tensorflow as tf

        tf.get_logger().setLevel("ERROR")


def main(words) -> None:
    """Attack, and print what came of each attack as JSON on the real stdout."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pairs", nargs="+", metavar="KIND VERB")
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args(words)
    # A shell that starts this in the background lets it ignore Ctrl-C.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    answers = os.dup(1)
    os.dup2(2, 1)
    for kind, verb in zip(asked.pairs[::2], asked.pairs[1::2], strict=True):
        found = attack(kind, verb, asked.sample, asked.seed)
        os.write(answers, (json.dumps(found) + "\n").encode())
    os.close(answers)
    os._exit(0)  # what hostile objects left behind must not speak at the exit


if __name__ == "__main__":
    main(sys.argv[1:])
