"""Every verb x every attack -> `table.json`, and the same as text.

Run as `python -m tests.robustness.table`. Words are verbs, or kinds of attack, or both; without
any, all are attacked. What was measured for the others stays. `--print` only shows the table.
"""

import argparse
import fcntl
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

from tests.robustness.attacks import KINDS

HERE = Path(__file__).parent
TABLE = HERE / "table.json"
LONGEST = 3000  # seconds for one attack on one verb


def attacked(kind: str, verb: str, sample: int = 0, seconds: int = LONGEST) -> dict:
    """Attack a verb in a child of its own; a death or a hang is a fault."""
    return next(attacked_in_turn([(kind, verb)], sample, seconds))


def attacked_in_turn(
    pairs: list, sample: int = 0, seconds: int = LONGEST, seed: int = 0
) -> Iterator[dict]:
    """Attack pairs of (kind, verb) in one child, which imports a framework once.

    Where the child dies, hangs or finds a fault, the next pair gets a new one, and a fault that was
    found after other attacks is looked for again in a child of its own.
    """
    left = list(pairs)
    while left:
        answers = _answers(left, sample, seconds, seed)
        for number, found in enumerate(answers):
            if found["faults"] and number:
                found = next(_answers(left[:1], sample, seconds, seed))
            left = left[1:]
            yield found
            if found["faults"]:
                answers.close()
                break


def _answers(pairs: list, sample: int, seconds: int, seed: int) -> Iterator[dict]:
    """Yield what a child says of each pair; of the pair at which it ends early, how it ended."""
    with tempfile.TemporaryDirectory(prefix="attack-") as home:
        words = ["-m", "tests.robustness.attacks", *(word for pair in pairs for word in pair)]
        own = {"TMPDIR": home, "PYTHONHASHSEED": "0", "PYTHONPATH": str(HERE.parents[1])}
        with open(Path(home, "said"), "w+", errors="replace") as said:
            child = subprocess.Popen(
                [sys.executable, *words, "--sample", str(sample), "--seed", str(seed)],
                cwd=HERE.parents[1],
                env={**os.environ, **own},
                stdout=subprocess.PIPE,
                stderr=said,
                text=True,
            )
            try:
                for _ in pairs:
                    alarm = threading.Timer(seconds, child.kill)
                    alarm.start()
                    line = child.stdout.readline()
                    alarm.cancel()
                    if not line:
                        ending = child.wait()
                        said.seek(0)
                        lines = [line.strip() for line in said if line.strip()]
                        at = [line for line in lines if line.startswith("# ")][-1:]
                        why = [line for line in lines if not line.startswith("# ")][-1:]
                        yield {"tried": 0, "faults": [f"ended with {ending} at {at}: {why}"]}
                        return
                    yield json.loads(line)
            finally:
                child.kill()
                child.wait()
                child.stdout.close()


def cell(found: dict | None) -> str:
    """Return one cell in words; empty where nothing was tried."""
    if found is None:
        return ""
    if found.get("because"):
        return f"- {found['because']}"
    if found["faults"]:
        return f"{len(found['faults'])} FAULTS of {found['tried']}"
    if "html" in found:
        words = f"n={found['tried']:,}: {found['html'] // 1000} kB"
        words += f", state {found['state'] // 1000} kB" if found["state"] else ""
        growth = "within" if found["ratio"] <= found["bound"] else "OVER"
        return f"{words}, time x{found['ratio']}, {growth} n log n"
    return f"{found['tried']} of {found['tried']}"


def text(table: dict) -> str:
    """Return the table as text: a row a verb."""
    from tabulate import tabulate

    rows = [[verb, *(cell(row.get(kind)) for kind in KINDS)] for verb, row in sorted(table.items())]
    return tabulate(rows, ["verb", *KINDS])


def read() -> dict:
    """Return the table as it was last made."""
    return json.loads(TABLE.read_text()) if TABLE.exists() else {}


def write(verb: str, kind: str, found: dict) -> None:
    """Write one cell down; another process may be writing others."""
    with open(TABLE, "a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        table = read() if TABLE.stat().st_size else {}
        table.setdefault(verb, {})[kind] = found
        file.truncate(0)
        file.write(json.dumps(table, indent=1, sort_keys=True) + "\n")


def main(words) -> None:
    """Attack what the words name, write the table down after each, and show it."""
    from tests.robustness.subjects import SUBJECTS

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--sample", type=int, default=0, help="so many objects or moments, not all")
    parser.add_argument("--seed", type=int, default=0, help="other objects or moments")
    parser.add_argument("--print", action="store_true", dest="only_print")
    asked = parser.parse_args(words)
    verbs = [word for word in asked.words if word in SUBJECTS] or sorted(SUBJECTS)
    kinds = [word for word in asked.words if word in KINDS] or KINDS
    pairs = [] if asked.only_print else [(kind, verb) for verb in verbs for kind in kinds]
    for framework in ("", "torch", "tensorflow", "both"):
        own = [pair for pair in pairs if SUBJECTS[pair[1]].imports == framework]
        answers = attacked_in_turn(own, asked.sample, seed=asked.seed)
        for (kind, verb), found in zip(own, answers, strict=True):
            write(verb, kind, found)
            print(f"{verb} {kind}: {cell(found)}", flush=True)
            for fault in found["faults"]:
                print(f"    {fault}", flush=True)
    print(text(read()))


if __name__ == "__main__":
    main(sys.argv[1:])
