"""A learner's server on a hub: the branch comes, what is new goes into work/, JupyterLab starts.

A hub starts this file in place of jupyterhub-singleuser, with that one's words. What learners
edited in work/ stays; where the branch cannot be had, they go on with what they have.

    COURSE_REPO     what git clones, as https://example.org/you/who-runs-your-function
    COURSE_BRANCH   its branch; main without this
    COURSE_FOLDER   the folder under the learner's home; course without this
    COURSE_BESIDE   site-packages with jupyterhub and nbgitpuller, where the course's have none
"""

import os
import runpy
import site
import subprocess
import sys
from pathlib import Path

PATIENCE_SECONDS = 120
PULL = """
import os, site
if beside := os.environ.get("COURSE_BESIDE"):
    site.addsitedir(beside)
from nbgitpuller.pull import main
main()
"""
FILL = "from helpers.course import filling; filling.update_work_folder()"
# As course.py sets them when the course is started at home.
SETTINGS = {
    "TF_CPP_MIN_LOG_LEVEL": "3",
    "TF_ENABLE_ONEDNN_OPTS": "0",
    "PYTHONHASHSEED": "0",
    "JUPYTER_PREFER_ENV_PATH": "1",
}


def run(words: list[str], **where) -> None:
    """Run a step before the server; failures go into the log and stop nothing."""
    try:
        subprocess.run(
            words, check=True, timeout=PATIENCE_SECONDS, stdin=subprocess.DEVNULL, **where
        )
    except (OSError, subprocess.SubprocessError) as error:
        print(
            f"The learner's server starts without this step: {error}", file=sys.stderr, flush=True
        )


def pull(repo: str, branch: str, folder: Path) -> None:
    """Clone or update the folder as an nbgitpuller link does: what the learner changed stays."""
    quiet = {**os.environ, "GIT_TERMINAL_PROMPT": "0"}
    run([sys.executable, "-c", PULL, repo, branch, str(folder)], cwd=Path.home(), env=quiet)


def main() -> None:
    """Bring the course, add to work/, and become the learner's server."""
    folder = Path.home() / os.environ.get("COURSE_FOLDER", "course")
    if repo := os.environ.get("COURSE_REPO"):
        pull(repo, os.environ.get("COURSE_BRANCH", "main"), folder)
    run([sys.executable, "-c", FILL], cwd=folder)
    for name, value in SETTINGS.items():
        os.environ.setdefault(name, value)
    os.environ["PYTHONPATH"] = str(folder)  # helpers/ of the same commit as the notebooks
    if beside := os.environ.get("COURSE_BESIDE"):
        site.addsitedir(beside)
    runpy.run_module("jupyterhub.singleuser", run_name="__main__")


if __name__ == "__main__":
    main()
