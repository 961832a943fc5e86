"""A hub, a repository, a branch and a chapter -> the nbgitpuller link that a teacher hands out."""

from urllib.parse import quote

FOLDER = "course"  # as start_learner.py has it
CHAPTERS = f"{FOLDER}/work"


def link(hub: str, repo: str, branch: str, chapter: str) -> str:
    """Return the link; it starts the server, brings the branch, opens the learner's own copy."""
    words = {
        "repo": repo,
        "branch": branch,
        "targetPath": FOLDER,
        "urlpath": f"lab/tree/{CHAPTERS}/{chapter}",
    }
    told = "&".join(f"{name}={quote(value, '')}" for name, value in words.items())
    return f"{hub.rstrip('/')}/hub/user-redirect/git-pull?{told}"
