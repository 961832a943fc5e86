"""Mutants of the package, drawn by chance -> how many the everyday tests kill, and which survive.

    python -m tools.package_mutants draw --count 300 --seed 40    # needs mutmut, in any environment
    python -m tools.package_mutants reach                         # one run of the everyday suite
    python -m tools.package_mutants run                           # each mutant against its tests

`draw` uses the operators of mutmut. `reach` runs the everyday suite on a copy of the project, in
which each function with a mutant notes the test that is running. `run` gives each mutant a process
of its own, in which the tests that reached its function run, the quickest first, until one fails.
A test counts only if it passes without the mutant. Everything is kept in the folder `--folder`.
"""

import argparse
import ast
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
ROOMS = ("capture", "model", "mini", "safety", "study", "view")
#: How many seconds of tests one mutant gets. The tests beyond that do not run.
SECONDS_OF_TESTS = 40
#: A mutant that does not end within this many seconds counts as killed: CI would stop it, too.
LONGEST_SECONDS = 300

REACHED_MODULE = '''
"""Append each pair of a marked function and the running test to a file, once per process."""
import os

_noted = set()

def reached(number):
    test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" (")[0]
    target = os.environ.get("REACHED_FILE")
    if test and target and (number, test) not in _noted:
        _noted.add((number, test))
        with open(target, "a", encoding="utf-8") as file:
            file.write(f"{number}\\t{test}\\n")
'''
IMPORT_REACHED = (
    "try:\n    from helpers._reached import reached as _reached_\n"
    "except ImportError:\n    _reached_ = int\n"
)


def draw(folder: Path, count: int, seed: int) -> None:
    """Write `mutants.json`: for each mutant its file, its function, its line and the new source."""
    import libcst
    from mutmut.mutation.file_mutation import create_mutations, deep_replace

    # mutmut asks for its settings in the working folder.
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "setup.cfg").write_text("[mutmut]\nsource_paths=helpers\n", "utf-8")
    os.chdir(folder)

    candidates = []
    for room in ROOMS:
        for path in sorted((ROOT / "helpers" / room).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            module, mutations, *_ = create_mutations(name, path.read_text("utf-8"))
            candidates += [
                (name, module, mutation)
                for mutation in mutations
                if isinstance(mutation.contained_by_top_level_function, libcst.FunctionDef)
            ]
    print(len(candidates), "mutants in", len({name for name, _, _ in candidates}), "files")
    mutants = []
    for name, module, mutation in random.Random(seed).sample(candidates, count):
        replaced = deep_replace(module, mutation.original_node, mutation.mutated_node)
        original = module.code
        changed = replaced.code
        line = next(
            number
            for number, (before, after) in enumerate(
                zip(original.splitlines(), changed.splitlines(), strict=False), 1
            )
            if before != after
        )
        mutants.append(
            {
                "file": name,
                "function": mutation.contained_by_top_level_function.name.value,
                "line": line,
                "before": original.splitlines()[line - 1].strip(),
                "after": changed.splitlines()[line - 1].strip(),
                "new": libcst.Module([]).code_for_node(mutation.mutated_node),
                "source": changed,
            }
        )
    (folder / "mutants.json").write_text(json.dumps(mutants), "utf-8")


def copy_project(folder: Path) -> Path:
    """Copy the files that git knows into a folder, and return the folder."""
    shutil.rmtree(folder, ignore_errors=True)
    files = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.splitlines()
    for name in files:
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, target)
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    subprocess.run(["git", "add", "-A"], cwd=folder, check=True)
    return folder


def first_line(node: ast.stmt) -> int:
    """Return the line on which a statement begins, with its decorators."""
    return min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])


def mark(source: str, numbers_by_line: dict[int, list[int]]) -> str:
    """Return a module whose functions note that they ran.

    `numbers_by_line`: a line with a mutant -> the numbers of its mutants.
    """
    tree = ast.parse(source)
    lines = source.splitlines(keepends=True)
    insertions = []  # (index of a line, the text that comes before it)
    for line, numbers in numbers_by_line.items():
        functions = [
            node
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            and first_line(node) <= line <= node.end_lineno
        ]
        # The outermost function: an inner one may run in a frame that a capture looks at.
        function = min(functions, key=lambda node: node.lineno)
        first = function.body[0]
        has_docstring = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
        if has_docstring and len(function.body) > 1:
            first = function.body[1]
        start = first_line(first)
        if start == function.lineno:
            continue  # a function on one line
        text = "".join(f"{' ' * first.col_offset}_reached_({number})\n" for number in numbers)
        insertions.append((start - 1, text))
    statements = [
        node
        for node in tree.body
        if not (isinstance(node, ast.ImportFrom) and node.module == "__future__")
        and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
    ]
    first = statements[0]
    start = first_line(first)
    insertions.append((start - 1, IMPORT_REACHED))
    for index, text in sorted(insertions, reverse=True):
        lines.insert(index, text)
    return "".join(lines)


def reach(folder: Path, workers: int) -> None:
    """Write `reached.txt` (mutant, test) and `durations.json` (test -> seconds)."""
    mutants = json.loads((folder / "mutants.json").read_text("utf-8"))
    copy = copy_project(folder / "marked")
    numbers = {}  # file -> line -> numbers of mutants
    for number, mutant in enumerate(mutants):
        numbers.setdefault(mutant["file"], {}).setdefault(mutant["line"], []).append(number)
    for name, by_line in numbers.items():
        path = copy / name
        path.write_text(mark(path.read_text("utf-8"), by_line), "utf-8")
    (copy / "helpers" / "_reached.py").write_text(REACHED_MODULE, "utf-8")
    reached_file = folder / "reached.txt"
    reached_file.unlink(missing_ok=True)
    subprocess.run(
        [sys.executable, "-m", "pytest", "-q", f"-n{workers}", "-p", "no:logging", "--tb=no"]
        + ["--show-capture=no", f"--junitxml={folder / 'durations.xml'}", "tests"],
        cwd=copy,
        env=os.environ | {"PYTHONPATH": str(copy), "REACHED_FILE": str(reached_file)},
        check=False,
    )


def read_durations(folder: Path) -> dict[str, float]:
    """Return how many seconds each test took that passed, by its id."""
    from xml.etree import ElementTree

    durations = {}
    for case in ElementTree.parse(folder / "durations.xml").iter("testcase"):
        if len(case) == 0:  # no failure, no error, no skip
            name = f"{case.get('classname')}::{case.get('name')}"
            durations[name] = float(case.get("time"))
    return durations


def name_in_report(test: str) -> str:
    """Return how a report names a test: with dots for slashes, and without `.py`."""
    path, _, name = test.partition("::")
    return f"{path.removesuffix('.py').replace('/', '.')}::{name}"


def choose_tests(folder: Path, number: int) -> list[str]:
    """Return the tests that reached a mutant's function, the quickest first, within the limit."""
    durations = read_durations(folder)
    tests = set()
    for line in (folder / "reached.txt").read_text("utf-8").splitlines():
        mutant, _, test = line.partition("\t")
        if int(mutant) == number and name_in_report(test) in durations:
            tests.add(test)
    chosen = []
    seconds = 0.0
    for test in sorted(tests, key=lambda test: durations[name_in_report(test)]):
        seconds += durations[name_in_report(test)]
        if chosen and seconds > SECONDS_OF_TESTS:
            break
        chosen.append(test)
    return chosen


def run_tests(copy: Path, tests: list[str], report: Path) -> str | None:
    """Run tests in a fork of this process until one fails; return that one's id, or None.

    This process has imported torch and TensorFlow already, which saves most of the time.
    """
    report.unlink(missing_ok=True)
    child = os.fork()
    if child == 0:
        os.setsid()
        output = os.open(os.devnull, os.O_WRONLY)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.chdir(copy)
        sys.path.insert(0, str(copy))
        os.environ["PYTHONPATH"] = str(copy)
        import pytest

        class FirstFailure:
            def pytest_runtest_logreport(self, report):
                if report.failed:
                    write(report.nodeid)

            def pytest_collectreport(self, report):
                if report.failed:
                    write(report.nodeid or "collection")

        def write(text):
            if not report.exists():
                report.write_text(text, "utf-8")

        arguments = ["-q", "-x", "-n0", "-p", "no:logging", "-p", "no:cacheprovider", *tests]
        try:
            status = pytest.main(arguments, plugins=[FirstFailure()])
            if status and not report.exists():
                write(f"pytest ended with {status}")
        except BaseException as error:
            write(f"pytest raised {type(error).__name__}")
        os._exit(0)
    deadline = time.monotonic() + LONGEST_SECONDS
    while time.monotonic() < deadline:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            if report.exists():
                return report.read_text("utf-8")
            return None if status == 0 else f"the process ended with {status}"
        time.sleep(0.1)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return f"no end within {LONGEST_SECONDS} s"


def run(folder: Path, part: int, parts: int) -> None:
    """Run the tests of each mutant of one part, and write the result to `results-PART.jsonl`."""
    import tensorflow  # noqa: F401  imported once, for all forks
    import torch  # noqa: F401

    mutants = json.loads((folder / "mutants.json").read_text("utf-8"))
    copy = copy_project(folder / f"copy-{part}")
    results_file = folder / f"results-{part}.jsonl"
    finished = set()
    if results_file.exists():
        finished = {json.loads(line)["number"] for line in results_file.read_text().splitlines()}
    passes = {}  # test -> whether it passes without a mutant
    for number in range(part, len(mutants), parts):
        if number in finished:
            continue
        mutant = mutants[number]
        tests = choose_tests(folder, number)
        path = copy / mutant["file"]
        original = path.read_text("utf-8")
        killer = None
        while tests and killer is None:
            path.write_text(mutant["source"], "utf-8")
            try:
                killer = run_tests(copy, tests, folder / f"report-{part}.txt")
            finally:
                path.write_text(original, "utf-8")
            if killer is None:
                break
            test = killer if killer in tests else tests[0]
            if test not in passes:
                passes[test] = run_tests(copy, [test], folder / f"report-{part}.txt") is None
            if not passes[test]:
                tests.remove(test)
                killer = None
        row = {"number": number, "killer": killer, "tests": len(tests)}
        row |= {key: mutant[key] for key in ("file", "function", "line", "before", "after")}
        with results_file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")


def report(folder: Path) -> None:
    """Print how many mutants were killed, and the survivors."""
    rows = [
        json.loads(line)
        for path in sorted(folder.glob("results-*.jsonl"))
        for line in path.read_text("utf-8").splitlines()
    ]
    survivors = [row for row in rows if row["killer"] is None]
    print(f"{len(rows) - len(survivors)} of {len(rows)} killed")
    for row in sorted(survivors, key=lambda row: (row["file"], row["line"])):
        print(f"{row['file']}:{row['line']} {row['function']} ({row['tests']} tests)")
        print(f"    - {row['before']}\n    + {row['after']}")


def main() -> None:
    """Do one of the steps."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("step", choices=["draw", "reach", "run", "report"])
    parser.add_argument("--folder", type=Path, required=True, help="where everything is kept")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=40)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--part", type=int, default=0, help="which of --parts this process runs")
    parser.add_argument("--parts", type=int, default=1)
    options = parser.parse_args()
    folder = options.folder.resolve()
    if options.step == "draw":
        draw(folder, options.count, options.seed)
    elif options.step == "reach":
        reach(folder, options.workers)
    elif options.step == "run":
        run(folder, options.part, options.parts)
    else:
        report(folder)


if __name__ == "__main__":
    main()
