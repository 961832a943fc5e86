"""A learner and a chapter -> one visit: in, run all, step, solve, check, save; its seconds."""

import time
from dataclasses import dataclass, field

import nbformat

from helpers.model.study_records import find_exercise_cells
from hub.trial.kernel import Kernel, Lost
from hub.trial.learner import Learner


def written(notebook) -> list[tuple]:
    """Return what a learner wrote and saw: source and outputs of each cell."""
    return [(cell.source, cell.get("outputs")) for cell in notebook.cells]


@dataclass
class Visit:
    """What one learner did and how long it took, in seconds; `faults` should be empty."""

    learner: Learner
    chapter: str
    kernel: Kernel | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    notebook: nbformat.NotebookNode | None = None
    stepped_to: int = 0
    checked: str = ""
    faults: list[str] = field(default_factory=list)

    async def arrive(self) -> None:
        """Log in and follow the link to the chapter: the server starts, the course comes."""
        began = time.monotonic()
        await self.learner.log_in()
        await self.learner.enter(f"lab/tree/course/work/{self.chapter}")
        self.seconds["server"] = time.monotonic() - began

    async def begin(self) -> None:
        """Open the chapter with a fresh kernel."""
        self._opened = time.monotonic()
        self.notebook = await self.learner.read(self.chapter)
        self.kernel = await self.learner.kernel(self.chapter)

    async def run_all(self, cells: slice = slice(None)) -> None:
        """Run the code cells in order and keep their outputs; an error is a fault."""
        for number, cell in list(enumerate(self.notebook.cells))[cells]:
            if cell.cell_type != "code":
                continue
            ran = await self.kernel.run(cell.source)
            cell.outputs = ran.outputs
            if ran.outputs and "first output" not in self.seconds:
                self.seconds["first output"] = time.monotonic() - self._opened
            if any(one.output_type == "error" for one in ran.outputs):
                self.faults.append(f"{self.chapter}[{number}]: {ran.text.strip()[-200:]}")
        self.seconds["all cells"] = time.monotonic() - self._opened

    async def step(self) -> None:
        """Step the first stage of the chapter, where it has one."""
        for comm in self.kernel.stages()[:1]:
            self.stepped_to = await self.kernel.step(comm, 1)

    async def solve(self) -> None:
        """Write the first exercise's solution into its stub; run from its heading to its check."""
        for one in list(find_exercise_cells(self.notebook.cells))[:1]:
            self.notebook.cells[one.stub].source = one.solution
            for cell in self.notebook.cells[one.heading : one.check + 1]:
                if cell.cell_type == "code":
                    ran = await self.kernel.run(cell.source)
                    cell.outputs = ran.outputs
            self.checked = ran.text.strip()
            if "passed" not in self.checked:
                self.faults.append(f"{self.chapter}: {one.name}: {self.checked[:200]}")

    async def save(self) -> None:
        """Save the chapter as it is now."""
        await self.learner.save(self.chapter, self.notebook)

    async def whole(self) -> "Visit":
        """Do all of it; what the hub or the kernel refuses is a fault, not an error."""
        try:
            for part in (self.arrive, self.begin, self.run_all, self.step, self.solve, self.save):
                await part()
        except (Lost, OSError, RuntimeError, ValueError) as error:
            self.faults.append(f"{self.chapter}: {type(error).__name__}: {error}")
        return self
