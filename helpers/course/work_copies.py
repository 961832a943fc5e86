"""Make the copy of a course file for the learner's folder work/, and mark copies as trusted."""

from collections.abc import Iterable
from contextlib import redirect_stderr, redirect_stdout
from datetime import datetime
from io import StringIO
from pathlib import Path

from helpers.course import authorship, checkout
from helpers.course import fresh as fresh_copies
from helpers.course.deliveries import Delivery
from helpers.course.terminal import say

_RECIPE = Path(fresh_copies.__file__)  # the program that decides how a notebook is copied


class NewestCopy:
    """The copy that this version of the course makes of one of its files, with its hashes."""

    def __init__(self, name: str, data: bytes, version: str):
        """Make the copy.

        Parameters
        ----------
        name
            The path of the file, relative to the course's folder notebooks/.
        data
            The content of the file.
        version
            What `version_of` returns for the file.
        """
        self.name = name
        self.copy = fresh_copies.make_fresh_copy(data) if authorship.is_notebook(name) else data
        self.delivery = Delivery(
            course=version,
            whole=authorship.digest(self.copy),
            written=authorship.written(self.copy, name),
        )


def version_of(name: str, data: bytes) -> str:
    """Return a hash that changes if a course file changes, or the way in which it is copied.

    `name` is the name of the file, and `data` its content.
    """
    recipe = _RECIPE.read_bytes() if authorship.is_notebook(name) else b""
    return authorship.digest(recipe + data)


def ready(path: Path) -> Path:
    """Create the folder in which a file of work/ is to be, and return the path of the file.

    Raise CommandRefused if that folder is a link, which may lead out of work/.
    """
    checkout.refuse_foreign(checkout.WORK)
    path.parent.mkdir(parents=True, exist_ok=True)
    checkout.refuse_foreign(path.parent)
    return path


def trust(files: Iterable[Path]) -> None:
    """Mark notebooks as trusted, so that JupyterLab shows their stored pictures.

    Jupyter's own program does that; it reads the learner's settings. Jupyter stores a hash of the
    content, so a copy under another name is trusted, too. If it fails, a line is printed.
    """
    names = [str(path) for path in files if path.suffix == ".ipynb"]
    if not names:
        return
    try:
        from nbformat.sign import TrustNotebookApp  # here, because it may be missing, and is slow

        with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            app = TrustNotebookApp()
            app.initialize(names)
            app.start()
    except (Exception, SystemExit):
        say("Not marked as trusted: JupyterLab's command palette has Trust Notebook.")


def time_in_name() -> str:
    """Return the time as part of a file name: "2026-03-01_093000"."""
    return datetime.now().strftime("%Y-%m-%d_%H%M%S")
