"""notebooks/ -> work/, the learner's own copies: they are added and renewed, never lost.

`lab` opens JupyterLab on work/; `reset` puts a fresh copy of a notebook there, with the learner's
own beside it, and its first exercises solved if that is asked for. In a copy of a notebook that
asks for predictions nothing has run yet, and what would give an answer away is folded.
"""

import json
import os
import re
from collections.abc import Iterable
from contextlib import redirect_stderr, redirect_stdout
from datetime import datetime
from io import StringIO
from pathlib import Path

import course
from helpers.model import study_records
from helpers.model.study_records import exercise_cells
from helpers.safety import folders, learner_record

FIRST = "00_start_here.ipynb"
TEACHERS = "instructor"  # the folder of notes for teachers: they are no learner's
FOLD = "<details class='course-held'><summary>Decide first: this reveals the answer</summary>\n\n"
HELD = "after-deciding"  # the tag of cells that say what a prediction above them asks


def notebooks() -> Path:
    """Return the folder of the course's own notebooks."""
    return course.ROOT / "notebooks"


def chapters() -> list[str]:
    """Return the names of the course's notebooks."""
    return sorted(path.name for path in notebooks().glob("*.ipynb"))


def chapter_named(word: str) -> str:
    """Return the notebook that a word names: 3, 03, 03_byte, 03_bytecode_and_frames.ipynb."""
    stem = re.sub(r"\.ipynb$", "", Path(word).name)
    begins = rf"0*{int(stem)}(?!\d)" if re.fullmatch("[0-9]+", stem) else re.escape(stem)
    named = [name for name in chapters() if stem and re.match(begins, name)]
    if len(named) != 1:
        there = ", ".join(chapters())
        raise course.Refusal(f"{word!r} does not name exactly one notebook; there are: {there}.")
    return named[0]


def fill() -> None:
    """Copy into work/ whatever of notebooks/ is not there yet; what is there is the learner's."""
    course.refuse_foreign(course.WORK)
    missing = {}
    for source in sorted(notebooks().rglob("*")):
        inside = source.relative_to(notebooks())
        place = course.WORK / inside
        hidden = any(part.startswith((".", "__pycache__")) for part in inside.parts)
        theirs = not hidden and inside.parts[0] != TEACHERS
        if source.is_file() and theirs and not os.path.lexists(place):
            missing[source] = place
    with folders.temporary("fresh-") as home:
        there = {one.name: fresh(one) for one in missing if one.suffix == ".ipynb"}
        made = home.fill("notebooks", there)
        missing = {made / one.name if one.name in there else one: missing[one] for one in missing}
        trust(missing)
        added = [place for one, place in missing.items() if folders.add_copy(one, ready(place))]
    new = [place.name for place in added if place.parent == course.WORK]  # not each picture
    if new:
        course.say(f"New in work/, which is yours to edit: {', '.join(new)}")


def ready(place: Path) -> Path:
    """Make the folder of a place in work/; Refusal where a link leads out of work/."""
    course.refuse_foreign(course.WORK)
    place.parent.mkdir(parents=True, exist_ok=True)
    course.refuse_foreign(place.parent)
    return place


def trust(files: Iterable[Path]) -> None:
    """Sign notebooks, so that JupyterLab draws their pictures; copies of them are trusted too.

    By Jupyter's own program, which reads the learner's settings. A failure is reported.
    """
    names = [str(path) for path in files if path.suffix == ".ipynb"]
    try:
        if names:
            from nbformat.sign import TrustNotebookApp  # may be missing; takes as long as the rest

            with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
                app = TrustNotebookApp()
                app.initialize(names)
                app.start()
    except (Exception, SystemExit):
        course.say("Not marked as trusted: JupyterLab's command palette has Trust Notebook.")


def lab(words: list[str]) -> int:
    """Open JupyterLab on work/; the words are JupyterLab's. Refusal, OSError."""
    fill()
    url = "/lab" + (f"/tree/{FIRST}" if (course.WORK / FIRST).exists() else "")
    command = [str(course.PYTHON), "-m", "jupyterlab", f"--ServerApp.root_dir={course.WORK}"]
    command.append(f"--LabApp.default_url={url}")
    if getattr(os, "geteuid", lambda: 1)() == 0:
        course.say("You are root, so JupyterLab is started with --allow-root, which it requires.")
        command.append("--allow-root")
    if where := left_off():
        course.say(where)
    course.say("Starting JupyterLab: Ctrl-C in this terminal stops it.")
    return course.hand_over([*command, *words], os.environ)


def left_off() -> str:
    """Return in one line where the learner left off; "" where nothing is known of it."""
    try:
        there = {path.name: path.read_text("utf-8") for path in notebooks().glob("*.ipynb")}
        record = learner_record.read(course.WORK / learner_record.NAME)
        done = study_records.progress(study_records.chapters(there), record.events)
        return done.left_off or record.trouble
    except (OSError, ValueError):  # not really a notebook
        return ""


def reset(words: list[str], solved_to: int | None = None) -> int:
    """Put fresh copies of the named notebooks into work/, the learner's own beside them.

    In a copy that is `solved_to` a number, the first exercises hold their solutions.
    """
    if not words:
        there = ", ".join(chapters())
        raise course.Refusal(f"`reset` needs the number of a notebook; there are: {there}.")
    names = [chapter_named(word) for word in words]
    how = "fresh" if solved_to is None else f"fresh, its first {solved_to} exercises solved"
    with folders.temporary("fresh-") as home:
        files = {name: fresh(notebooks() / name, solved_to) for name in names}
        folder = home.fill("notebooks", files)
        for name in names:
            trust([folder / name])
            when = datetime.now().strftime("%Y-%m-%d_%H%M%S")
            kept = folders.renew_copy(folder / name, ready(course.WORK / name), when)
            beside = f"; yours is kept as work/{kept.name}" if kept else ""
            course.say(f"work/{name} is {how}{beside}")
    course.say(
        "If it is open in JupyterLab with unsaved changes, first choose File, Save Notebook As. "
        "Then choose File, Reload Notebook from Disk."
    )
    return 0


def fresh(path: Path, solved_to: int | None = None) -> bytes:
    """Return a notebook as a learner first meets it; its first exercises are solved if asked.

    Refusal if it has fewer than `solved_to` exercises, or if that is none.
    """
    data = path.read_bytes()
    try:
        notebook = json.loads(data)
        cells = notebook["cells"]
    except (ValueError, KeyError):  # not a notebook: JupyterLab will say so when it is opened
        return data
    if solved_to is not None:
        _solve(cells, path.stem, solved_to)
    held = [cell for cell in cells if HELD in cell.get("metadata", {}).get("tags", ())]
    for cell in held:
        if cell["cell_type"] == "code":
            cell["metadata"]["jupyter"] = {"source_hidden": True}
        else:  # folded by JupyterLab, its first line would be seen
            cell["source"] = [FOLD, *cell["source"], "\n\n</details>"]
    for cell in cells if held else ():
        cell |= {"outputs": [], "execution_count": None} if cell["cell_type"] == "code" else {}
    if not held and solved_to is None:
        return data
    return (json.dumps(notebook, indent=1, ensure_ascii=False) + "\n").encode()


def _solve(cells: list[dict], name: str, count: int) -> None:
    there = list(exercise_cells(cells))
    if not 0 < count <= len(there):
        raise course.Refusal(
            f"--solved-to needs a number from 1 to {len(there)}, the exercises of {name}, "
            f"not {count}."
        )
    for one in there[:count]:
        cells[one.stub]["source"] = one.solution.rstrip().splitlines(keepends=True)
        for place in (one.stub, one.check):  # its stored output belongs to the stub
            cells[place]["outputs"] = []
