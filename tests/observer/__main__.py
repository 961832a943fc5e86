"""Judge the pairs of a framework, and print what differs.

`python -m tests.observer torch [once|ten|SEED] [verb] [program]`; a seed draws a part of them.
"""

import sys
import time

from tests.observer import judging


def main(framework: str, mode: str = "once", only_verb: str = "", only_program: str = "") -> None:
    """Print what differs in each pair."""
    times = 10 if mode == "ten" else 1
    began, number, bad = time.monotonic(), 0, 0
    programs = judging.table(framework)
    chosen = judging.every_pair(programs)
    if mode.isdigit():  # a seed
        chosen = judging.drawn_pairs(programs, int(mode))
    pairs = [
        (program, verb, times)
        for program, verb in chosen
        if only_verb in ("", verb.name) and only_program in ("", program.partition(":")[2])
    ]
    for program, verb, _, found, trail in judge_whole_heap(framework, pairs):
        number += 1
        bad += bool(found)
        for act in trail.get("acts", ())[:1]:
            if act["raised"] is not None and not found:
                print(f"  refused: {program} × {verb.name}: {act['raised'][:2]}")
        for words in found:
            print(f"{program} × {verb.name} × {times}: {words}", flush=True)
        if trail["seconds"] > 5:
            print(f"  slow: {program} × {verb.name}: {trail['seconds']} s", flush=True)
    print(f"{number} pairs, {bad} differ, {time.monotonic() - began:.0f} s")


def judge_whole_heap(framework: str, pairs: list):
    """Yield what is found of each pair, in a heap of which nothing is set aside."""
    with judging.Server(framework, small_heap=False) as server:
        yield from judging.judge_pairs(server, pairs)


if __name__ == "__main__":
    main(*sys.argv[1:])
