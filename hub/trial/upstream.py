"""This checkout -> a git repository with a branch main, such as a teacher publishes and changes."""

import shutil
import subprocess
from pathlib import Path

from hub.trial.environment import ROOT

IDENTITY = ("-c", "user.name=A teacher", "-c", "user.email=teacher@example.org")


class Upstream:
    """A repository in `folder` with the files that git knows in this checkout, as they are now."""

    def __init__(self, folder: Path):
        self.folder = folder
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
        """Commit to main whatever was changed in the folder."""
        _git(self.folder, "add", "--all")
        _git(self.folder, *IDENTITY, "commit", "--quiet", "--message", message)


def _git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout
