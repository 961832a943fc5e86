"""Seeds -> runs of verbs on odd programs, each in a child, and what went wrong, per verb.

`python -m tests.robustness.fuzz --runs 2000 --seed 0 [--verb NAME] [--frameworks none torch]`
prints deaths, hangs, what was left behind, and errors from inside, with the seed of each; `--show
SEED` prints a program. A fault counts only if the program alone, without a verb, does not show it.
"""

import argparse
import contextlib
import io
import json
import os
import random
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from pathlib import Path

from tests.robustness.fuzz_verbs import PASSES, VERBS

SHARES = {"none": 0.7, "torch": 0.18, "tensorflow": 0.12}
LONGEST = {"none": 30, "torch": 90, "tensorflow": 90}  # seconds for one run
MOST = 1_000_000  # characters of text or HTML
REPORT = 230  # a descriptor that no program closes
FAULTS = ("died", "hung", "left", "fault")


def verb_of(seed: int, framework: str) -> str:
    """Return the verb that the program of this seed is given to."""
    return random.Random(f"verb {seed}").choice(sorted(VERBS[framework]))


def _twice(fn, n):
    """Run a program alone, as often as a verb may."""
    with contextlib.suppress(BaseException):
        fn(n)
    return fn(n)


# -- in the child of one run -----------------------------------------------------------------------


def _once(seed: int, verb: str, framework: str) -> dict:
    """Run one verb on one program in this process, which is of no use afterwards."""
    from tests.robustness import odd_programs

    call = VERBS[framework].get(verb, _twice)
    fn = odd_programs.program(seed).fn
    before, told = _state(), {}
    tracer, profiler, limit = sys.gettrace(), sys.getprofile(), sys.getrecursionlimit()
    try:
        given = call(fn, 3)
    except BaseException as error:
        raised, given = error, None
    else:
        raised = None
    now = sys.gettrace(), sys.getprofile(), sys.getrecursionlimit()
    sys.settrace(None)
    sys.setprofile(None)
    sys.setrecursionlimit(max(3000, now[2]))
    _ALONE.append((raised, given))
    told["outcome"] = "value" if raised is None else type(raised).__name__
    after = _state()
    left = [name for name in before if not _same(before[name], after[name])]
    for name, one, other in zip(
        ("sys.settrace", "sys.setprofile", "the recursion limit"),
        now,
        (tracer, profiler, limit),
        strict=True,
    ):
        left += [name] if one is not other and one != other else []
    told["left"] = sorted(left)
    told["fault"] = _judged(verb, given, raised)
    return told


# TensorFlow keeps the source of what AutoGraph has converted until the process exits.
_CONVERTED = "__autograph_generated_file"
_ALONE: list = []  # what a run gave stays alive until the process ends


def _state() -> dict:
    from tests.robustness import attacks

    state = attacks._state()
    files = os.listdir(tempfile.gettempdir())
    state["temporary files"] = sorted(f for f in files if not f.startswith(_CONVERTED))
    for name in ("sys.settrace", "sys.setprofile", "the recursion limit"):
        state.pop(name)
    return state


def _same(before, now) -> bool:
    if type(before) is tuple and len(before) == 2 and hasattr(before[0], "same"):
        return before[0].same(now[1], before[1])
    return type(before) is int and now <= before or before == now


def _judged(verb: str, given, raised) -> str:
    """Return what was wrong with what a verb gave or raised; empty if nothing was."""
    from tests.robustness import attacks

    if raised is None:
        if not hasattr(type(given), "_repr_mimebundle_"):
            return ""
        try:
            text, html, state = attacks.rendered(given)
        except BaseException as error:
            return f"{type(error).__name__} while it is drawn: {_place(error)}"
        sizes = max(len(text), len(html), state)
        return f"too large: {sizes:,}" if sizes > MOST else ""
    if not isinstance(raised, Exception):  # the program's own end
        return ""
    if verb in PASSES and not _place(raised):
        return ""
    return attacks._unfit(raised)


def _place(error: BaseException) -> str:
    """Return where in the house an error came up; empty if it came from elsewhere."""
    from tests.robustness import attacks

    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None or not trace.tb_frame.f_code.co_filename.startswith(attacks.HOUSE):
        return ""
    return f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}"


# -- in the warm parent of many runs ---------------------------------------------------------------


def _warm(framework: str) -> None:
    """Import once what all runs need."""
    import helpers
    from tests.robustness import attacks, odd_programs  # noqa: F401

    if framework == "torch":
        import torch._dynamo  # noqa: F401
        import torch._inductor  # noqa: F401
    if framework == "tensorflow":
        import tensorflow as tf  # noqa: F401
    attacks.rendered(helpers.show_code(verb_of))
    attacks.rendered(helpers.watch_hooked(verb_of, 1, "none"))


def _fork(seed: int, verb: str, framework: str, home: str) -> dict:
    """Run one verb on one program in a fork of this process; a death or a hang is its outcome."""
    reading, writing = os.pipe()
    folder, start = tempfile.mkdtemp(dir=home), time.monotonic()
    pid = os.fork()
    if not pid:
        _child(seed, verb, framework, folder, writing)
    os.close(writing)
    told, part, hung = b"", b"-", False
    while part and not told.endswith(b"\n") and not hung:
        ready, _, _ = select.select([reading], [], [], 1)
        part = os.read(reading, 65536) if ready else b"-"
        told += part if ready else b""
        hung = not ready and _too_long(pid, start, LONGEST[framework])
    os.close(reading)
    if hung and not told:
        os.kill(pid, signal.SIGABRT)
        time.sleep(1)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    if told.endswith(b"\n"):
        return json.loads(told)
    said = _last_words(os.path.join(folder, "said"))
    if hung:
        return {"hung": said}
    return {"died": f"{os.waitstatus_to_exitcode(status)} {said}"}


def _too_long(pid: int, start: float, most: int) -> bool:
    """Tell whether a child has used more processor time than it may, or waits for ever."""
    import psutil

    with contextlib.suppress(psutil.Error):
        used = psutil.Process(pid).cpu_times()
        return used.user + used.system > most or time.monotonic() - start > 6 * most
    return False


def _last_words(path: str) -> str:
    """Return where the interpreter stood when it died, innermost first."""
    try:
        text = Path(path).read_text(errors="replace")
    except OSError:
        return ""
    _, mark, frames = text.rpartition("most recent call first):")
    lines = [line.strip() for line in frames.splitlines() if line.strip().startswith("File")]
    return " < ".join(line.replace('File "', "").replace('"', "") for line in lines[:6])


def _child(seed: int, verb: str, framework: str, folder: str, writing: int) -> None:
    """Be the child: never return."""
    try:
        import faulthandler

        os.setpgid(0, 0)
        os.dup2(writing, REPORT, inheritable=False)
        os.close(writing)
        said = os.open(os.path.join(folder, "said"), os.O_RDWR | os.O_CREAT | os.O_APPEND)
        for number, target in ((0, os.open(os.devnull, os.O_RDONLY)), (1, said), (2, said)):
            os.dup2(target, number)
        errors = os.dup2(said, REPORT + 1, inheritable=False)
        faulthandler.enable(errors)
        for name, number in (("stdout", 1), ("stderr", 2)):
            raw = io.FileIO(number, "w", closefd=False)
            setattr(sys, name, io.TextIOWrapper(raw, errors="replace", write_through=True))
        for name in ("tmp", "cwd"):
            os.mkdir(os.path.join(folder, name))
        os.environ["TMPDIR"] = tempfile.tempdir = os.path.join(folder, "tmp")
        os.chdir(os.path.join(folder, "cwd"))
        signal.signal(signal.SIGINT, signal.default_int_handler)
        told = _once(seed, verb, framework)
        os.write(REPORT, json.dumps(told).encode() + b"\n")
    except BaseException as error:
        words = f"{type(error).__name__}: {error!r:.300} at line {error.__traceback__.tb_lineno}"
        os.write(REPORT, json.dumps({"fault": f"the fuzz itself: {words}"}).encode() + b"\n")
    finally:
        os._exit(0)


def serve(framework: str, seeds: list[int], verb: str = "") -> None:
    """Run these seeds, one fork each; print a line of JSON for each."""
    said = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    _warm(framework)
    with tempfile.TemporaryDirectory(prefix="fuzz-") as home:
        for seed in seeds:
            name = verb or verb_of(seed, framework)
            told = _fork(seed, name, framework, home)
            if any(told.get(kind) for kind in FAULTS):
                alone = _fork(seed, "bare", framework, home)
                told = _without(name, told, alone)
            os.write(said, json.dumps({"seed": seed, "verb": name, **told}).encode() + b"\n")


def _without(verb: str, told: dict, alone: dict) -> dict:
    """Return what a run told, without what the program does alone."""
    if alone.get("died") or alone.get("hung"):
        return {"outcome": "the program alone dies or hangs"}
    told = dict(told)
    if told.get("left"):
        told["left"] = sorted(set(told["left"]) - set(alone.get("left", ())))
    if verb in PASSES and told.get("outcome") == alone.get("outcome") != "value":
        told["fault"] = ""
    return told


# -- the whole -------------------------------------------------------------------------------------


def fuzz(runs: int, seed: int, frameworks=tuple(SHARES), verb: str = "", each=None) -> list[dict]:
    """Return what became of each run; `each` is called with every fault as it comes."""
    shares = {name: SHARES[name] for name in frameworks if not verb or verb in VERBS[name]}
    found, first = [], seed * 1_000_000
    for name, share in shares.items():
        count = max(1, round(runs * share / sum(shares.values())))
        command = [sys.executable, "-m", "tests.robustness.fuzz", "--serve", name]
        command += ["--verb", verb, "--first", str(first), "--runs", str(count)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            for line in server.stdout:
                found.append(json.loads(line))
                if each and any(found[-1].get(kind) for kind in FAULTS):
                    each(found[-1])
        if server.returncode:
            found.append({"seed": first, "verb": name, "died": f"the parent: {server.returncode}"})
        first += count
    return found


def report(found: list[dict]) -> str:
    """Return a table: verb, runs, values, refusals or exceptions, and the four kinds of faults."""
    rows = defaultdict(Counter)
    for one in found:
        row = rows[one["verb"]]
        row["runs"] += 1
        row["raised"] += one.get("outcome", "value") != "value"
        for kind in FAULTS:
            row[kind] += bool(one.get(kind))
    rows["all"] = sum(rows.values(), Counter())
    names = ("runs", "raised", *FAULTS)
    lines = [f"{'verb':28}" + "".join(f"{name:>8}" for name in names)]
    lines += [f"{verb:28}" + "".join(f"{row[n]:8}" for n in names) for verb, row in rows.items()]
    return "\n".join(lines)


def main(words=None) -> int:
    """Fuzz as asked; return 1 if something died, hung, was left or came from inside."""
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("--runs", type=int, default=2000)
    reader.add_argument("--seed", type=int, default=0)
    reader.add_argument("--verb", default="")
    reader.add_argument("--frameworks", nargs="*", default=tuple(SHARES), choices=tuple(SHARES))
    reader.add_argument("--show", type=int, help="print the program of this seed")
    reader.add_argument("--serve", help=argparse.SUPPRESS)
    reader.add_argument("--first", type=int, default=0, help=argparse.SUPPRESS)
    given = reader.parse_args(words)
    if given.show is not None:
        from tests.robustness import odd_programs

        print(odd_programs.source_of(given.show))
        return 0
    if given.serve:
        serve(given.serve, list(range(given.first, given.first + given.runs)), given.verb)
        return 0
    found = fuzz(
        given.runs, given.seed, given.frameworks, given.verb, lambda one: print(one, flush=True)
    )
    print(report(found))
    return int(any(one.get(kind) for one in found for kind in FAULTS))


if __name__ == "__main__":
    raise SystemExit(main())
