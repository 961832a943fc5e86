"""This checkout -> a git repository with a branch main, such as a teacher publishes and changes."""

import shutil
import subprocess
from pathlib import Path

from hub.trial.environment import ROOT

IDENTITY = ("-c", "user.name=A teacher", "-c", "user.email=teacher@example.org")


class Upstream:
    """A repository in `folder` with the files that git knows in this checkout, as they are now.

    In one that was there before, that is a new commit, after one of what was changed in it.
    """

    def __init__(self, folder: Path):
        self.folder = folder
        if (folder / ".git").is_dir():
            (folder / ".git/index.lock").unlink(missing_ok=True)  # of a git that was killed
            self.publish("What was changed here")
            _git(folder, "rm", "-r", "--quiet", "--ignore-unmatch", ".")
        for name in _git(ROOT, "ls-files", "-z").split("\0"):
            if name and (ROOT / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, folder / name)
        _git(folder, "init", "--quiet", "--initial-branch=main")
        self.publish("The course")

    @property
    def url(self) -> str:
        """Return what git clones."""
        return self.folder.as_uri()

    def publish(self, message: str) -> None:
        """Commit to main whatever was changed in the folder, if anything was."""
        _git(self.folder, "add", "--all")
        if not _git(self.folder, "status", "--porcelain"):
            return
        _git(self.folder, *IDENTITY, "commit", "--quiet", "--message", message)


def _git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout
