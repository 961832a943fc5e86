"""notebooks/ -> work/, the learner's own copies: they are added and renewed, never lost.

What nobody has edited follows the course; what a learner has edited stays, and a line says what it
lacks.
"""

import os
from pathlib import Path

from helpers.course import authorship, checkout, deliveries, history
from helpers.course.chapter_notebooks import notebooks
from helpers.course.deliveries import Delivery
from helpers.course.terminal import CommandRefused, say
from helpers.course.work_copies import NewestCopy, ready, time_in_name, trust, version_of
from helpers.safety import folders

TEACHERS = "instructor"  # the folder of notes for teachers: they are no learner's


def fill() -> bool:
    """Bring work/ to the newest course: what is missing is added, what nobody edited is renewed.

    What a learner has edited stays, and a line says that the course has a newer one. Return whether
    something was renewed. Raise CommandRefused if something cannot be written.
    """
    checkout.refuse_foreign(checkout.WORK)
    noted = deliveries.read(checkout.WORK)
    filling = _Filling(dict(noted))
    try:
        filling.fill(_files_of_the_course())
    except folders.NotRenewed as error:
        raise CommandRefused(str(error)) from error
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
        """Begin with what was noted of each file, by its name, when it was last brought."""
        self.noted = noted
        self.has_renewed = False
        self.brought: list[Path] = []  # notebooks that are not trusted yet
        # The names of files that were added, and renewed without a copy of the old one.
        self.new: list[str] = []
        self.renewed: list[str] = []
        self.lines: list[str] = []  # sentences for the learner
        # The names of files that stay, and of which an earlier start has said so in full.
        self.told_before: list[str] = []

    def fill(self, files: dict[str, Path]) -> None:
        """Add or renew each file that is not as the course has it now."""
        unknown = {}  # name -> (NewestCopy, the learner's bytes)
        for name, source in files.items():
            place = checkout.WORK / name
            data = source.read_bytes()
            version = version_of(name, data)
            known = self.noted.get(name)
            if not os.path.lexists(place):
                self._add(name, data, version)
            elif known is None or known.course != version:
                learners = _read(place)
                if learners is None:  # a folder or a link: it stays
                    continue
                newest = NewestCopy(name, data, version)
                if not self._is_known(newest, learners, known):
                    unknown[name] = (newest, learners)
        self._ask_history(unknown)

    def _ask_history(self, unknown: dict[str, tuple[NewestCopy, bytes]]) -> None:
        """Renew the files that are past versions of the course's; the others may be edited."""
        learners_files = {name: learners for name, (_, learners) in unknown.items()}
        past = history.past_versions(checkout.ROOT, notebooks().name, learners_files)
        for name, (newest, learners) in unknown.items():
            if name in past:
                self._renew(newest, learners, ran=past[name] == history.RAN)
            else:
                self._offer(newest, learners, Delivery(), "it may contain your work")

    def _is_known(self, newest: NewestCopy, learners: bytes, known: Delivery | None) -> bool:
        """Renew, keep or offer a file in work/, and return True, if it is known whose it is.

        Return False if nothing says so. `learners` are the bytes in work/, and `known` is what was
        noted of the file when it was last brought, or None.
        """
        name = newest.name
        whole = authorship.digest(learners)
        if whole == newest.delivery.whole:  # it is the newest copy, byte for byte
            self.noted[name] = newest.delivery
            return True
        if known and whole == known.whole:  # it is the copy that was brought: not even run
            self._renew(newest, learners, ran=False)
            return True

        written = authorship.written(learners, name)
        if written == newest.delivery.written:
            self.noted[name] = newest.delivery  # they ran what is the newest
        elif known is None:
            return False
        elif written == known.written:  # run, and not edited
            self._renew(newest, learners, ran=True)
        elif known.written == newest.delivery.written:
            self.noted[name] = newest.delivery  # only outputs of the course's have changed
        else:
            self._offer(newest, learners, known, "you edited it")
        return True

    def _add(self, name: str, data: bytes, version: str) -> None:
        """Put the copy of a file into work/, where there is none."""
        newest = NewestCopy(name, data, version)
        if folders.add_copy(newest.copy, ready(checkout.WORK / name)):
            self._note(newest)
            self.new.append(name)

    def _renew(self, newest: NewestCopy, learners: bytes, ran: bool) -> None:
        """Put the newest copy over one that nobody edited; one that was run is kept beside it."""
        name = newest.name
        place = ready(checkout.WORK / name)
        if _read(place) != learners:  # saved meanwhile: the next start looks again
            return
        if ran:
            old_copy = folders.renew_copy(newest.copy, place, time_in_name())
            self.lines.append(
                f"work/{name} is renewed, because you ran it and did not edit it; "
                f"your copy with its outputs is kept as work/{_inside_work(old_copy)}"
            )
        else:
            folders.replace_copy(newest.copy, place)
            self.renewed.append(name)
        self.has_renewed = True
        self._note(newest)

    def _offer(self, newest: NewestCopy, learners: bytes, known: Delivery, reason: str) -> None:
        """Leave a file as it is, and say that the course has a newer one: once in full, then short.

        `reason` says why it stays.
        """
        name = newest.name
        version = newest.delivery.course
        if known.offered == version:
            self.told_before.append(name)
            return
        self.noted[name] = known._replace(offered=version)
        if authorship.is_notebook(name):
            lack = authorship.lack(learners, newest.copy)
            self.lines.append(
                f"work/{name} stays, because {reason}. The course has a newer one"
                f"{_with_what(lack)}: "
                f"`course.py reset {_word_for(name)}` puts it into work/ and keeps yours beside it."
            )
        else:
            self.lines.append(
                f"work/{name} stays, because it is not the course's. The course has a newer one: "
                "move yours away, and the next start brings it."
            )

    def _note(self, newest: NewestCopy) -> None:
        """Note that work/ has the newest copy of a file now."""
        self.noted[newest.name] = newest.delivery
        if authorship.is_notebook(newest.name):
            self.brought.append(checkout.WORK / newest.name)

    def report(self) -> None:
        """Say what was done, and which of the learner's files are older than the course's."""
        new = _of_work_itself(self.new)
        if new:
            say(f"New in work/, which is yours to edit: {new}")
        renewed = _of_work_itself(self.renewed)
        if renewed:
            say(f"Renewed in work/, because you had not edited them: {renewed}")
        for line in self.lines:
            say(line)
        older = [name for name in self.told_before if authorship.is_notebook(name)]
        if older:
            words = " ".join(map(_word_for, older))
            say(
                f"The course is newer than your {', '.join(older)}: "
                f"`course.py reset {words}` brings the newest and keeps yours beside it."
            )


def _read(place: Path) -> bytes | None:
    """Return what a file in work/ contains; None where it is elsewhere, or cannot be read."""
    try:
        is_link = Path(os.path.realpath(place)) != place
        if is_link or not place.is_file():
            return None
        return place.read_bytes()
    except OSError:
        return None


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
