"""notebooks/ -> work/, the learner's own copies: they are added and renewed, never lost.

`lab` opens JupyterLab on work/; `reset` puts a fresh copy of a notebook there, with the learner's
own beside it, and its first exercises solved if that is asked for. What nobody has edited follows
the course; what a learner has edited stays, and a line says what it lacks.
"""

import os
import re
from collections.abc import Iterable
from contextlib import redirect_stderr, redirect_stdout
from datetime import datetime
from io import StringIO
from pathlib import Path

from helpers.course import authorship, checkout, deliveries, history, running
from helpers.course import fresh as fresh_copies
from helpers.course.deliveries import Delivery
from helpers.course.fresh import FOLD, HELD, fresh
from helpers.course.terminal import Refusal, say
from helpers.model import study_records
from helpers.safety import folders, learner_record

__all__ = ["FOLD", "HELD", "chapter_named", "chapters", "fill", "fresh", "lab", "notebooks"]
__all__ += ["reset", "trust"]

FIRST = "00_start_here.ipynb"
TEACHERS = "instructor"  # the folder of notes for teachers: they are no learner's


RELOAD = (
    "If it is open in JupyterLab with unsaved changes, first choose File, Save Notebook As. "
    "Then choose File, Reload Notebook from Disk."
)
_RECIPE = Path(fresh_copies.__file__)


def notebooks() -> Path:
    """Return the folder of the course's own notebooks."""
    return checkout.ROOT / "notebooks"


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
        raise Refusal(f"{word!r} does not name exactly one notebook; there are: {there}.")
    return named[0]


def fill() -> bool:
    """Bring work/ to the newest course: what is missing is added, what nobody edited is renewed.

    What a learner has edited stays, and a line says that the course has a newer one. Return whether
    something was renewed. Refusal where something cannot be written.
    """
    checkout.refuse_foreign(checkout.WORK)
    noted = deliveries.read(checkout.WORK)
    filling = _Filling(dict(noted))
    try:
        filling.fill(_files_of_the_course())
    except folders.NotRenewed as error:
        raise Refusal(str(error)) from error
    finally:
        if filling.noted != noted:
            deliveries.write(checkout.WORK, filling.noted)
        trust(filling.brought)
        filling.report()
    return filling.has_renewed


def _files_of_the_course() -> dict[str, Path]:
    """Return the place in work/ -> the file of the course, of all that is a learner's to have."""
    files = {}
    for source in sorted(notebooks().rglob("*")):
        inside = source.relative_to(notebooks())
        hidden = any(part.startswith((".", "__pycache__")) for part in inside.parts)
        if not hidden and inside.parts[0] != TEACHERS and source.is_file():
            files[inside.as_posix()] = source
    return files


class _Filling:
    """One pass over work/: what was noted of each file, and what there is to say afterwards."""

    def __init__(self, noted: dict[str, Delivery]):
        self.noted = noted
        self.has_renewed = False
        self.brought: list[Path] = []  # notebooks that are not trusted yet
        self.new: list[str] = []
        self.renewed: list[str] = []
        self.lines: list[str] = []
        self.told_before: list[str] = []

    def fill(self, files: dict[str, Path]) -> None:
        """Add or renew each file that is not as the course has it now."""
        unknown = {}
        for name, source in files.items():
            place, data = checkout.WORK / name, source.read_bytes()
            version, known = _version(name, data), self.noted.get(name)
            if not os.path.lexists(place):
                self._add(name, data, version)
            elif known is None or known.course != version:
                learners = _read(place)
                if learners is None:
                    continue
                newest = _Newest(name, data, version)
                if not self._is_known(newest, learners, known):
                    unknown[name] = newest, learners
        past = history.past_versions(
            checkout.ROOT, notebooks().name, {name: data for name, (_, data) in unknown.items()}
        )
        for name, (newest, learners) in unknown.items():
            if name in past:
                self._renew(newest, learners, ran=past[name] == history.RAN)
            else:
                self._offer(newest, learners, Delivery(), "it may contain your work")

    def _is_known(self, newest: "_Newest", learners: bytes, known: Delivery | None) -> bool:
        """Do what is to be done for a file in work/; False where nothing says whose it is."""
        name, whole = newest.name, authorship.digest(learners)
        if whole == newest.delivery.whole:
            self.noted[name] = newest.delivery
        elif known and whole == known.whole:
            self._renew(newest, learners, ran=False)
        elif (written := authorship.written(learners, name)) == newest.delivery.written:
            self.noted[name] = newest.delivery  # they ran what is the newest
        elif known is None:
            return False
        elif written == known.written:
            self._renew(newest, learners, ran=True)
        elif known.written == newest.delivery.written:
            self.noted[name] = newest.delivery  # only outputs of the course's have changed
        else:
            self._offer(newest, learners, known, "you edited it")
        return True

    def _add(self, name: str, data: bytes, version: str) -> None:
        newest = _Newest(name, data, version)
        if folders.add_copy(newest.copy, ready(checkout.WORK / name)):
            self._note(newest)
            self.new.append(name)

    def _renew(self, newest: "_Newest", learners: bytes, ran: bool) -> None:
        """Put the newest copy over one that nobody edited; one that was run is kept beside it."""
        name, place = newest.name, ready(checkout.WORK / newest.name)
        if _read(place) != learners:  # saved meanwhile: the next start looks again
            return
        if ran:
            kept = folders.renew_copy(newest.copy, place, _now())
            self.lines.append(
                f"work/{name} is renewed, because you ran it and did not edit it; "
                f"your copy with its outputs is kept as work/{_inside_work(kept)}"
            )
        else:
            folders.replace_copy(newest.copy, place)
            self.renewed.append(name)
        self.has_renewed = True
        self._note(newest)

    def _offer(self, newest: "_Newest", learners: bytes, known: Delivery, because: str) -> None:
        """Leave a file as it is, and say once in full, and then in short, what is newer."""
        name, version = newest.name, newest.delivery.course
        if known.offered == version:
            self.told_before.append(name)
            return
        self.noted[name] = known._replace(offered=version)
        if authorship.is_notebook(name):
            self.lines.append(
                f"work/{name} stays, because {because}. The course has a newer one"
                f"{_with_what(authorship.lack(learners, newest.copy))}: "
                f"`course.py reset {_word_for(name)}` puts it into work/ and keeps yours beside it."
            )
        else:
            self.lines.append(
                f"work/{name} stays, because it is not the course's. The course has a newer one: "
                "move yours away, and the next start brings it."
            )

    def _note(self, newest: "_Newest") -> None:
        self.noted[newest.name] = newest.delivery
        if authorship.is_notebook(newest.name):
            self.brought.append(checkout.WORK / newest.name)

    def report(self) -> None:
        """Say what was done, and which of the learner's files are older than the course's."""
        if new := _of_work_itself(self.new):
            say(f"New in work/, which is yours to edit: {new}")
        if renewed := _of_work_itself(self.renewed):
            say(f"Renewed in work/, because you had not edited them: {renewed}")
        for line in self.lines:
            say(line)
        if older := [name for name in self.told_before if authorship.is_notebook(name)]:
            words = " ".join(map(_word_for, older))
            say(
                f"The course is newer than your {', '.join(older)}: "
                f"`course.py reset {words}` brings the newest and keeps yours beside it."
            )


class _Newest:
    """The copy that the course makes of one of its files now."""

    def __init__(self, name: str, data: bytes, version: str):
        self.name = name
        self.copy = fresh_copies.freshened(data) if authorship.is_notebook(name) else data
        whole, written = authorship.digest(self.copy), authorship.written(self.copy, name)
        self.delivery = Delivery(version, whole, written)


def _version(name: str, data: bytes) -> str:
    """Return a hash of a file of the course and of how it is copied."""
    recipe = _RECIPE.read_bytes() if authorship.is_notebook(name) else b""
    return authorship.digest(recipe + data)


def _read(place: Path) -> bytes | None:
    """Return what a file in work/ contains; None where it is elsewhere, or cannot be read."""
    try:
        here = Path(os.path.realpath(place)) == place  # no link leads there
        return place.read_bytes() if here and place.is_file() else None
    except OSError:
        return None


def _now() -> str:
    """Return the time as a part of a file's name."""
    return datetime.now().strftime("%Y-%m-%d_%H%M%S")


def _inside_work(path: Path) -> str:
    return path.relative_to(checkout.WORK).as_posix()


def _of_work_itself(names: list[str]) -> str:
    """Return the names that are directly in work/, as a list in words: not each picture."""
    return ", ".join(name for name in names if "/" not in name)


def _word_for(name: str) -> str:
    """Return the word by which `reset` knows a notebook: its number, or its name."""
    return name[:2] if name[:2].isdigit() else name.removesuffix(".ipynb")


def _with_what(lack: authorship.Lack | None) -> str:
    """Return what the newer notebook has and the learner's lacks, as the end of a sentence."""
    parts = []
    if lack and lack.sections:
        parts.append(authorship.named(lack.sections, "section"))
    if lack and lack.exercises:
        parts.append(authorship.named(lack.exercises, "exercise"))
    return f", and yours lacks {' and '.join(parts)}" if parts else ""


def ready(place: Path) -> Path:
    """Make the folder of a place in work/; Refusal where a link leads out of work/."""
    checkout.refuse_foreign(checkout.WORK)
    place.parent.mkdir(parents=True, exist_ok=True)
    checkout.refuse_foreign(place.parent)
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
        say("Not marked as trusted: JupyterLab's command palette has Trust Notebook.")


def lab(words: list[str]) -> int:
    """Open JupyterLab on work/; the words are JupyterLab's. Refusal, OSError.

    A server that runs on work/ already is opened, and a second one is not started.
    """
    renewed = fill()
    if where := left_off():
        say(where)
    page = "lab" + (f"/tree/{FIRST}" if (checkout.WORK / FIRST).exists() else "")
    if not running.ASKS.intersection(words) and (server := running.server_on(checkout.WORK)):
        running.open_server(server, page, words)
        if renewed:
            say(RELOAD)
        return 0
    command = [str(checkout.PYTHON), "-m", "jupyterlab", f"--ServerApp.root_dir={checkout.WORK}"]
    command.append(f"--LabApp.default_url=/{page}")
    if getattr(os, "geteuid", lambda: 1)() == 0:
        say("You are root, so JupyterLab is started with --allow-root, which it requires.")
        command.append("--allow-root")
    say("Starting JupyterLab: Ctrl-C in this terminal stops it.")
    return checkout.hand_over([*command, *words], os.environ)


def left_off() -> str:
    """Return in one line where the learner left off; "" where nothing is known of it."""
    try:
        there = {path.name: path.read_text("utf-8") for path in notebooks().glob("*.ipynb")}
        record = learner_record.read(checkout.WORK / learner_record.NAME)
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
        raise Refusal(f"`reset` needs the number of a notebook; there are: {there}.")
    names = [chapter_named(word) for word in words]
    how = "fresh" if solved_to is None else f"fresh, its first {solved_to} exercises solved"
    copies = {name: fresh(notebooks() / name, solved_to) for name in names}
    for name, copy in copies.items():
        place = ready(checkout.WORK / name)
        try:
            kept = folders.renew_copy(copy, place, _now())
        except folders.NotRenewed as error:
            raise Refusal(str(error)) from error
        beside = f"; yours is kept as work/{kept.name}" if kept else ""
        say(f"work/{name} is {how}{beside}")
        _note_reset(name, copy)
        trust([place])
    say(RELOAD)
    return 0


def _note_reset(name: str, copy: bytes) -> None:
    """Note that a learner has the newest now; with solutions in it, it counts as edited."""
    data = (notebooks() / name).read_bytes()
    newest = _Newest(name, data, _version(name, data)).delivery
    same = authorship.digest(copy) == newest.whole
    noted = deliveries.read(checkout.WORK)
    noted[name] = newest if same else newest._replace(whole="")
    deliveries.write(checkout.WORK, noted)
