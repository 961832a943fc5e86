"""A file of the course -> the copy of it that belongs into work/, its place, and its trust."""

from collections.abc import Iterable
from contextlib import redirect_stderr, redirect_stdout
from datetime import datetime
from io import StringIO
from pathlib import Path

from helpers.course import authorship, checkout
from helpers.course import fresh as fresh_copies
from helpers.course.deliveries import Delivery
from helpers.course.terminal import say

_RECIPE = Path(fresh_copies.__file__)


class NewestCopy:
    """The copy that the course makes of one of its files now."""

    def __init__(self, name: str, data: bytes, version: str):
        """Make the copy.

        Parameters
        ----------
        name
            The file's path below the folder of the course. A notebook is copied without outputs.
        data
            The content of the file.
        version
            What `version_of` returns for the file.
        """
        self.name = name
        self.copy = fresh_copies.freshened(data) if authorship.is_notebook(name) else data
        self.delivery = Delivery(
            course=version,
            whole=authorship.digest(self.copy),
            written=authorship.written(self.copy, name),
        )


def version_of(name: str, data: bytes) -> str:
    """Return a hash of a file of the course and of how it is copied."""
    recipe = _RECIPE.read_bytes() if authorship.is_notebook(name) else b""
    return authorship.digest(recipe + data)


def ready(place: Path) -> Path:
    """Make the folder of a place in work/, and return the place.

    Raise CommandRefused if a link leads out of work/.
    """
    checkout.refuse_foreign(checkout.WORK)
    place.parent.mkdir(parents=True, exist_ok=True)
    checkout.refuse_foreign(place.parent)
    return place


def trust(files: Iterable[Path]) -> None:
    """Sign notebooks, so that JupyterLab draws their pictures; copies of them are trusted too.

    By Jupyter's own program, which reads the learner's settings. A failure is reported.
    """
    names = [str(path) for path in files if path.suffix == ".ipynb"]
    if not names:
        return
    try:
        from nbformat.sign import TrustNotebookApp  # may be missing; takes as long as the rest

        with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            app = TrustNotebookApp()
            app.initialize(names)
            app.start()
    except (Exception, SystemExit):
        say("Not marked as trusted: JupyterLab's command palette has Trust Notebook.")


def time_in_name() -> str:
    """Return the time as a part of a file's name."""
    return datetime.now().strftime("%Y-%m-%d_%H%M%S")
