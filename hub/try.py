"""A real JupyterHub on this machine, on loopback; Linux or macOS.

    python3 hub/try.py setup           JupyterHub into hub/.venv, its proxy into hub/node_modules
    python3 hub/try.py serve           a hub to look at in a browser; Ctrl-C ends it, and what
                                       learners did stays in hub/learners, or where `--in FOLDER`
                                       says; the next `serve` goes on with it
    python3 hub/try.py forget          removes what learners did there, or in `--in FOLDER`
    python3 hub/try.py learners 1 2 4  so many arrive at once: log in, run a chapter, step,
                                       solve an exercise, save, come back; until one number breaks.
                                       `rise` doubles the number to what memory allows, and
                                       `--chapters 03` gives everybody chapter 3
    python3 hub/try.py chapters        the memory of one learner, chapter by chapter
    python3 hub/try.py kill            kernel, hub, proxy, server are killed amid a visit
    python3 hub/try.py links HUB REPO BRANCH   a link for each chapter, to hand out
    python3 hub/try.py values CHART    hub/values.yaml against the chart in this folder
    python3 hub/try.py paper           the tables of docs/hub.md, from hub/measured.json;
                                       `--write` puts them there

`learners`, `chapters` and `kill` use temporary folders, which are removed at the end.
`--record` with `learners`, `chapters`, `kill` keeps what was measured in hub/measured.json.
"""

import argparse
import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[0] = str(ROOT)

from hub.trial import environment  # noqa: E402

MOST = 256


def parser() -> argparse.ArgumentParser:
    """Return the parser of the words."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", metavar="command", required=True)
    commands.add_parser("setup")
    for name in ("serve", "forget"):
        commands.add_parser(name).add_argument("--in", dest="folder", type=Path, metavar="FOLDER")
    learners = commands.add_parser("learners")
    learners.add_argument("counts", nargs="+", metavar="N", help="numbers, or the word rise")
    learners.add_argument("--chapters", nargs="+", metavar="03")
    for one in (learners, commands.add_parser("chapters"), commands.add_parser("kill")):
        one.add_argument("--record", action="store_true")
    links = commands.add_parser("links")
    for name in ("hub", "repo", "branch"):
        links.add_argument(name)
    commands.add_parser("values").add_argument("chart", type=Path)
    commands.add_parser("paper").add_argument("--write", action="store_true")
    return parser


def learners(words) -> None:
    """Let learners arrive in growing numbers, and print a line for each number."""
    from hub.trial import load, measured

    rising = [2**power for power in range(MOST.bit_length())]
    counts = rising if words.counts == ["rise"] else list(map(int, words.counts))
    print(measured.HEADINGS, flush=True)
    results = load.rise(
        counts, words.chapters or load.ROTA, lambda one: print(measured.row(one), flush=True)
    )
    for one in results:
        print(*one["faults"], sep="\n")
    if results and counts[len(results) - 1] != counts[-1] and not results[-1]["faults"]:
        print(f"{counts[len(results)]} learners would not fit into memory.")
    if words.record:
        measured.record(runs=results)


def chapters(words) -> None:
    """Let one learner at a time into each chapter, and print what that takes."""
    from hub.trial import load, measured

    found = {}
    for number in sorted(load.ROTA):
        result = load.run(1, (number,))
        found[number] = {**result["chapters"][number], "core seconds": result["core seconds"]}
        print(number, found[number], *result["faults"], flush=True)
    if words.record:
        measured.record(chapters=found)


def kill(words) -> None:
    """Kill what a visit depends on, and print what was lost."""
    from hub.trial import kills, measured
    from hub.trial.server import Hub

    with tempfile.TemporaryDirectory(prefix="course-hub-") as folder, Hub(Path(folder)) as hub:
        found = asyncio.run(kills.everything(hub))
    for what, told in found.items():
        print(f"{what}: {told}")
    if words.record:
        measured.record(kills=found)


def serve(words) -> int:
    """Start a hub and wait for Ctrl-C; what learners did stays, and the last line says where.

    The exit code is 1 if the hub ended by itself.
    """
    from hub.trial import home
    from hub.trial.server import Hub

    owned = home.open_folder(folder_of(words))
    with home.locked(owned):
        say(f"What learners do is kept in {owned.path}")
        try:
            with Hub(owned.path) as hub:
                say(f"{hub.url}  any name, password {hub.password}; Ctrl-C ends it")
                hub.wait()
            say(f"The hub ended by itself: see {owned.path / 'hub.log'}.")
            return 1
        except KeyboardInterrupt:
            return 0
        except RuntimeError as error:  # it did not start
            say(str(error))
            return 1
        finally:
            say(home.tell_kept(owned.path))


def forget(words) -> None:
    """Remove what learners did on a hub that was served."""
    from hub.trial import home

    say(home.forget(folder_of(words)))


def folder_of(words) -> Path:
    """Return the folder that the words name, or the default."""
    from hub.trial import home

    return words.folder.absolute() if words.folder else home.DEFAULT


def interrupt_once(number, frame) -> None:
    """Raise KeyboardInterrupt; what is then ended and said is not interrupted again."""
    for ending in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ending, signal.SIG_IGN)
    raise KeyboardInterrupt


def say(words: str) -> None:
    """Print, also where the terminal was closed meanwhile."""
    with contextlib.suppress(OSError):
        print(words, flush=True)


def links(words) -> None:
    """Print a link for each chapter that names hub, repository and branch."""
    from hub.trial.links import link

    for path in sorted((ROOT / "notebooks").glob("0*.ipynb")):
        print(link(words.hub, words.repo, words.branch, path.name))


def values(words) -> None:
    """Print what the chart's schema says against hub/values.yaml; exit code 1 if it does."""
    from hub.trial import chart

    if not (words.chart / "values.schema.yaml").is_file():
        raise environment.Missing(
            f"{words.chart} contains no values.schema.yaml, so it is not a chart"
        )
    found = chart.faults(words.chart)
    print(*(found or ["hub/values.yaml fits the chart."]), sep="\n")
    sys.exit(1 if found else 0)


def paper(words) -> None:
    """Print or write the tables that are computed from what was measured."""
    from hub.trial import paper

    if words.write:
        paper.write()
    else:
        print("\n\n".join(paper.tables().values()))


def main() -> int:
    """Do what the words ask for, on the course's Python; return the exit code."""
    words = parser().parse_args()
    python = environment.course_python()
    try:
        if words.command == "setup":
            environment.setup()
            return 0
        why = environment.missing()
        if why and words.command in ("serve", "learners", "chapters", "kill"):
            raise environment.Missing(why)
        if python.exists() and Path(sys.prefix).resolve() != python.parents[1].resolve():
            os.execv(python, [str(python), str(Path(__file__).resolve()), *sys.argv[1:]])
        for ending in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(ending) is not signal.SIG_IGN:  # as nohup sets it
                signal.signal(ending, interrupt_once)
        return globals()[words.command](words) or 0
    except (environment.Missing, subprocess.CalledProcessError) as error:
        print(f"hub/try.py: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
