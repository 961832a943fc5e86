"""A chapter, opened in a kernel of its own -> seconds to its first exhibit, megabytes on the way.

Memory is what the system calls resident (RSS): all pages that a kernel touches, those that it
shares with others too, so that neighbours change nothing. A kernel and its children are summed as
what each has to itself and its part of the shared pages (PSS; Linux alone).
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
    cpu: float = 0.0  # seconds of a processor until then, in the kernel
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
    with kernel(number) as (client, process), looked_at(process, run, until):
        for place, cell in enumerate(client.nb.cells):
            client.execute_cell(cell, place)
            source += cell.source + "\n"
            if not run.first_exhibit and is_exhibit(cell):
                run.first_exhibit = time.perf_counter() - start
                run.cpu = sum(process.cpu_times()[:2])
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
def looked_at(process: psutil.Process, run: Run, until: str) -> Iterator[None]:
    """Write down now and then what a kernel that goes to the end and its children have together."""
    done = threading.Event()
    if until != END:  # looking takes time, and times are taken
        done.set()

    def look():
        while not done.wait(NAP):
            run.tree.append(together(process))

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def together(process: psutil.Process) -> float:
    """Return the memory of a process and its children in MB, shared pages counted in parts."""
    total = 0
    with contextlib.suppress(psutil.Error):
        for one in [process, *process.children(recursive=True)]:
            with contextlib.suppress(psutil.Error):  # it has ended
                total += getattr(one.memory_full_info(), "pss", 0)
    return total / MEGABYTE


def floor(imported: tuple[str, ...]) -> tuple[float, float]:
    """Return the seconds, and those of a processor, in which a fresh Python imports only these."""
    source = "; ".join(f"import {name}" for name in imported) or "pass"
    start, before = time.perf_counter(), sum(os.times()[2:4])
    subprocess.run([sys.executable, "-c", source], cwd=ROOT, check=True, capture_output=True)
    return time.perf_counter() - start, sum(os.times()[2:4]) - before
