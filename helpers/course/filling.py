"""Copy the course's notebooks to work/, the learner's own folder, and update the copies there.
A copy that the learner has not edited is replaced when the course has a newer version. An edited
copy stays, and a printed line says what it lacks.
"""

import os
from pathlib import Path

from helpers.course import authorship, checkout, deliveries, history
from helpers.course.chapter_notebooks import notebooks_folder
from helpers.course.deliveries import Delivery
from helpers.course.terminal import CommandRefused, say
from helpers.course.work_copies import NewestCopy, ready, time_in_name, trust, version_of
from helpers.safety import folders

TEACHERS = "instructor"  # the folder of notes for teachers, which learners do not get


def update_work_folder() -> bool:
    """Add files that are missing in work/, and replace those that the learner has not edited.

    A file that the learner has edited stays, and a line says that the course has a newer one.
    Return whether a file was replaced. Raise CommandRefused if a file cannot be written.
    """
    checkout.refuse_foreign(checkout.WORK)
    deliveries_before = deliveries.read(checkout.WORK)
    filling = _Filling(dict(deliveries_before))
    try:
        filling.fill(_list_course_files())
    except folders.NotRenewed as error:
        raise CommandRefused(str(error)) from error
    finally:
        if filling.deliveries != deliveries_before:
            deliveries.write(checkout.WORK, filling.deliveries)
        trust(filling.new_notebooks)
        filling.report()
    return filling.has_renewed


def _list_course_files() -> dict[str, Path]:
    """Return path in work/ -> path of the course's file, for each file that learners get.

    A path in work/ is text such as "images/map.svg".
    """
    files = {}
    for source in sorted(notebooks_folder().rglob("*")):
        path_in_work = source.relative_to(notebooks_folder())
        is_hidden = any(part.startswith((".", "__pycache__")) for part in path_in_work.parts)
        if not is_hidden and path_in_work.parts[0] != TEACHERS and source.is_file():
            files[path_in_work.as_posix()] = source
    return files


class _Filling:
    """One update of work/. It collects what was done, and prints it at the end.

    Each file is known by its name, which is its path in work/, such as "images/map.svg". A
    `Delivery` has the hashes of a copy that the course has made.
    """

    def __init__(self, deliveries_before: dict[str, Delivery]):
        """Begin with file name -> Delivery, as the last update has stored them."""
        self.deliveries = deliveries_before
        self.has_renewed = False  # whether a file was replaced
        self.new_notebooks: list[Path] = []  # those that Jupyter does not trust yet
        self.new: list[str] = []  # names of files that were added
        self.renewed: list[str] = []  # names of files that were replaced, and not kept
        self.lines: list[str] = []  # sentences to print
        # Names of edited files that have a newer version, of which the learner was told earlier.
        self.told_before: list[str] = []

    def fill(self, files: dict[str, Path]) -> None:
        """Add or replace each file that differs from the course's newest one.

        `files` is file name -> path of the course's file.
        """
        unknown = {}  # name -> (NewestCopy, content of the learner's file)
        for name, source in files.items():
            path = checkout.WORK / name
            data = source.read_bytes()
            version = version_of(name, data)
            delivery = self.deliveries.get(name)
            if not os.path.lexists(path):
                self._add(name, data, version)
            elif delivery is None or delivery.course != version:  # else it is up to date
                learners_data = _read(path)
                if learners_data is None:  # a folder or a link, which stays
                    continue
                newest = NewestCopy(name, data, version)
                if not self._update_by_hashes(newest, learners_data, delivery):
                    unknown[name] = (newest, learners_data)
        self._update_by_history(unknown)

    def _update_by_history(self, unknown: dict[str, tuple[NewestCopy, bytes]]) -> None:
        """Replace the files that are past versions in git. The others may be edited, and stay.

        `unknown` is file name -> (newest copy, content of the learner's file).
        """
        learners_files = {name: learners_data for name, (_, learners_data) in unknown.items()}
        past = history.past_versions(checkout.ROOT, notebooks_folder().name, learners_files)
        for name, (newest, learners_data) in unknown.items():
            if name in past:
                self._renew(newest, learners_data, ran=past[name] == history.RAN)
            else:
                self._offer(newest, learners_data, Delivery(), "it may contain your work")

    def _update_by_hashes(
        self, newest: NewestCopy, learners_data: bytes, delivery: Delivery | None
    ) -> bool:
        """Replace or keep a file in work/ if the hashes tell whether the learner has edited it.

        Return False, and do nothing, if they do not tell. `learners_data` is the content of the
        learner's file. `delivery` has the hashes of the copy that the course made last, or is None.
        """
        name = newest.name
        whole = authorship.digest(learners_data)
        if whole == newest.delivery.whole:  # the file is the newest copy, byte for byte
            self.deliveries[name] = newest.delivery
            return True
        if delivery and whole == delivery.whole:  # the learner has not even run the last copy
            self._renew(newest, learners_data, ran=False)
            return True

        written = authorship.written(learners_data, name)
        if written == newest.delivery.written:  # the learner has run the newest copy
            self.deliveries[name] = newest.delivery
        elif delivery is None:
            return False
        elif written == delivery.written:  # the learner has run the last copy, and not edited it
            self._renew(newest, learners_data, ran=True)
        elif delivery.written == newest.delivery.written:
            # The learner has edited the file. In the course, only stored outputs have changed since
            # then, so there is nothing newer to offer.
            self.deliveries[name] = newest.delivery
        else:
            self._offer(newest, learners_data, delivery, "you edited it")
        return True

    def _add(self, name: str, data: bytes, version: str) -> None:
        """Copy a file to work/ that is not there yet.

        `data` is its content, and `version` is what `version_of` returned.
        """
        newest = NewestCopy(name, data, version)
        if folders.add_copy(newest.copy, ready(checkout.WORK / name)):
            self._note(newest)
            self.new.append(name)

    def _renew(self, newest: NewestCopy, learners_data: bytes, ran: bool) -> None:
        """Replace a file that the learner has not edited by the newest copy.

        If the learner has run the file (`ran`), it is kept beside the new one, for its outputs.
        """
        name = newest.name
        path = ready(checkout.WORK / name)
        if _read(path) != learners_data:  # the learner has just saved it; the next start decides
            return
        if ran:
            old_copy = folders.renew_copy(newest.copy, path, time_in_name())
            self.lines.append(
                f"work/{name} is renewed, because you ran it and did not edit it; "
                f"your copy with its outputs is kept as work/{_inside_work(old_copy)}"
            )
        else:
            folders.replace_copy(newest.copy, path)
            self.renewed.append(name)
        self.has_renewed = True
        self._note(newest)

    def _offer(
        self, newest: NewestCopy, learners_data: bytes, delivery: Delivery, reason: str
    ) -> None:
        """Keep the learner's file, and tell the learner that the course has a newer one.

        The learner is told in full once for each newer version, and later in a short line.
        `delivery` has the hashes of the last copy, and `reason` is a clause on why the file stays.
        """
        name = newest.name
        version = newest.delivery.course
        if delivery.offered == version:
            self.told_before.append(name)
            return
        self.deliveries[name] = delivery._replace(offered=version)
        if authorship.is_notebook(name):
            lack = authorship.lack(learners_data, newest.copy)
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
        """Store the hashes of the newest copy of a file, which is in work/ now."""
        self.deliveries[newest.name] = newest.delivery
        if authorship.is_notebook(newest.name):
            self.new_notebooks.append(checkout.WORK / newest.name)

    def report(self) -> None:
        """Print what was done, and which of the learner's files are older than the course's."""
        new = _join_top_names(self.new)
        if new:
            say(f"New in work/, which is yours to edit: {new}")
        renewed = _join_top_names(self.renewed)
        if renewed:
            say(f"Renewed in work/, because you had not edited them: {renewed}")
        for line in self.lines:
            say(line)
        older = [name for name in self.told_before if authorship.is_notebook(name)]
        if older:
            numbers = " ".join(map(_word_for, older))
            say(
                f"The course is newer than your {', '.join(older)}: "
                f"`course.py reset {numbers}` brings the newest and keeps yours beside it."
            )


def _read(path: Path) -> bytes | None:
    """Return the content of a file in work/; None if it is a link, a folder or unreadable."""
    try:
        is_link = Path(os.path.realpath(path)) != path
        if is_link or not path.is_file():
            return None
        return path.read_bytes()
    except OSError:
        return None


def _inside_work(path: Path) -> str:
    return path.relative_to(checkout.WORK).as_posix()


def _join_top_names(names: list[str]) -> str:
    """Return the names of files directly in work/, joined by commas.

    Files in folders of work/, such as pictures, are left out, because they are many.
    """
    return ", ".join(name for name in names if "/" not in name)


def _word_for(name: str) -> str:
    """Return an argument of `reset` for a notebook: "03", or its name without ".ipynb"."""
    return name[:2] if name[:2].isdigit() else name.removesuffix(".ipynb")


def _with_what(lack: authorship.Lack | None) -> str:
    """Return what the learner's notebook lacks, as the end of a sentence; "" for nothing."""
    parts = []
    if lack and lack.sections:
        parts.append(authorship.named(lack.sections, "section"))
    if lack and lack.exercises:
        parts.append(authorship.named(lack.exercises, "exercise"))
    return f", and yours lacks {' and '.join(parts)}" if parts else ""
