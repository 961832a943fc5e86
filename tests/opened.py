"""A chapter, opened in a kernel of its own -> seconds to its first exhibit, megabytes on the way.

Memory is what the system calls resident (RSS): all pages that a kernel touches, those that it
shares with others too, so that neighbours change nothing. A kernel and its children are summed as
what each has to itself and its part of the shared pages (PSS).
"""

import contextlib
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import nbformat
import psutil
from nbclient import NotebookClient
from nbformat import v4

import conftest  # noqa: F401 - the environment in which the stored outputs were made

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("0*.ipynb"))
FRAMEWORKS = ("torch", "tensorflow")
IMPORTS = re.compile(r"^\s*(?:import|from) ((?:torch|tensorflow)[\w.]*)", re.MULTILINE)
EXHIBIT, FRAMEWORK, END = "first exhibit", "first framework", "end"
MEGABYTE = 10**6
LONGEST = 300  # seconds for one cell
NAP = 0.2  # seconds between two looks at the memory


@dataclass
class Run:
    """What one kernel took: seconds to the first exhibit, and MB at each point of its way."""

    first_exhibit: float = 0.0
    cpu: float = 0.0  # seconds of a processor until then, in the kernel and its children
    imported: tuple[str, ...] = ()  # what the cells up to the first exhibit import of frameworks
    framework: bool = False  # whether one is in it
    started: float = 0.0
    first_cell: float = 0.0
    bare: float = 0.0  # the most at rest before a framework is in it
    rest: float = 0.0
    peak: float = 0.0
    tree: list[float] = field(default_factory=list)


def code_cells(number: str) -> list:
    """Return an empty cell and the code cells of a chapter."""
    [path] = (path for path in NOTEBOOKS if path.name.startswith(number))
    cells = nbformat.read(path, 4).cells
    return [v4.new_code_cell("pass"), *(cell for cell in cells if cell.cell_type == "code")]


class Cost(NamedTuple):
    """What a process and its children took: seconds of a processor, and MB at most (PSS)."""

    cpu: float
    memory: float


@contextlib.contextmanager
def kernel(number: str) -> Iterator[tuple[NotebookClient, psutil.Process]]:
    """Give a fresh kernel beside the notebooks, to run a chapter in, and its process."""
    client = NotebookClient(
        v4.new_notebook(cells=code_cells(number)),
        timeout=LONGEST,
        kernel_name="python3",
        resources={"metadata": {"path": str(ROOT / "notebooks")}},
    )
    with client.setup_kernel(stderr=subprocess.DEVNULL):  # a warning of the kernel's at each start
        yield client, psutil.Process(client.km.provisioner.pid)


def opened(number: str, until: str = EXHIBIT) -> Run:
    """Run a chapter as far as its first exhibit, first framework or end; return what it took."""
    run, source, start = Run(), "", time.perf_counter()
    with kernel(number) as (client, process), contextlib.ExitStack() as stack:
        if until == END:  # looking takes time, and before the end times are taken
            stack.enter_context(looked_at(process, run))
        for place, cell in enumerate(client.nb.cells):
            client.execute_cell(cell, place)
            source += cell.source + "\n"
            if not run.first_exhibit and is_exhibit(cell):
                run.first_exhibit = time.perf_counter() - start
                run.cpu = worked(process)
                run.imported = tuple(dict.fromkeys(IMPORTS.findall(source)))
                if until == EXHIBIT:
                    break
            run.rest = resident(process)
            run.started = run.started or run.rest
            if not run.first_cell and place:
                run.first_cell = run.rest
            run.framework = run.framework or frameworks_in(process)
            if not run.framework:
                run.bare = max(run.bare, run.rest)
            elif until == FRAMEWORK:
                break
        run.peak = max(run.rest, peak(process))
    return run


def first_picture(number: str) -> Cost:
    """Return what a kernel and its children take until a chapter's first exhibit is there."""
    run = Run()
    with kernel(number) as (client, process), looked_at(process, run):
        for place, cell in enumerate(client.nb.cells):
            client.execute_cell(cell, place)
            if is_exhibit(cell):
                break
        return Cost(worked(process), max(*run.tree, together(process)))


def imported_at_once(names: tuple[str, ...] = FRAMEWORKS) -> Cost:
    """Return what one fresh Python takes that imports all of these and nothing else."""
    source = f"import {', '.join(names)}\nprint('imported', flush=True)\ninput()"
    command, pipe = [sys.executable, "-c", source], subprocess.PIPE
    with subprocess.Popen(
        command, cwd=ROOT, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL
    ) as child:
        if b"imported" not in child.stdout.readline():
            raise RuntimeError(f"a fresh Python cannot import {' and '.join(names)}")
        process = psutil.Process(child.pid)
        cost = Cost(worked(process), together(process))
        child.communicate(b"\n")
    return cost


def worked(process: psutil.Process) -> float:
    """Return the seconds of a processor that a process and its children have taken."""
    total = sum(process.cpu_times()[:4])  # with those of the children that have ended
    for child in process.children(recursive=True):
        with contextlib.suppress(psutil.Error):  # it has ended
            total += sum(child.cpu_times()[:4])
    return total


def is_exhibit(cell) -> bool:
    """Tell whether a cell has shown more than text."""
    return any("text/html" in output.get("data", {}) for output in cell.outputs)


def frameworks_in(process: psutil.Process) -> bool:
    """Tell whether a framework's libraries are mapped into a process."""
    paths = (Path(part.path).parts for part in process.memory_maps())
    return any(name in parts for parts in paths for name in FRAMEWORKS)


def resident(process: psutil.Process) -> float:
    """Return the resident memory of a process, in MB."""
    return process.memory_info().rss / MEGABYTE


def peak(process: psutil.Process) -> float:
    """Return the most that was resident, in MB; 0 where the system does not tell of another."""
    with contextlib.suppress(OSError):
        status = Path(f"/proc/{process.pid}/status").read_text(encoding="ascii")
        return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) * 1024 / MEGABYTE
    return getattr(process.memory_info(), "peak_wset", 0) / MEGABYTE


@contextlib.contextmanager
def looked_at(process: psutil.Process, run: Run) -> Iterator[None]:
    """Write down now and then what a kernel and its children have together."""
    done = threading.Event()

    def look():
        while True:
            run.tree.append(together(process))
            if done.wait(NAP):
                return

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def together(process: psutil.Process) -> float:
    """Return the memory of a process and its children in MB, shared pages counted in parts.

    Where the system does not tell the parts (PSS; Linux alone does), all resident pages count.
    """
    total = 0
    with contextlib.suppress(psutil.Error):
        for one in [process, *process.children(recursive=True)]:
            with contextlib.suppress(psutil.Error):  # it has ended
                memory = one.memory_full_info()
                total += getattr(memory, "pss", memory.rss)
    return total / MEGABYTE


def floor(imported: tuple[str, ...]) -> tuple[float, float]:
    """Return the seconds, and those of a processor, in which a fresh Python imports only these."""
    source = "; ".join(f"import {name}" for name in imported) or "pass"
    start, before = time.perf_counter(), sum(os.times()[2:4])
    subprocess.run([sys.executable, "-c", source], cwd=ROOT, check=True, capture_output=True)
    return time.perf_counter() - start, sum(os.times()[2:4]) - before
