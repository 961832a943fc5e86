"""Notebooks as the course publishes them and as JupyterLab saves them, and what learners do."""

import json
import subprocess

HELD = "after-deciding"


def cell(source, kind="code", **more):
    """Return a cell as JSON; code has been run by the maintainers."""
    metadata = {"tags": more.pop("tags", [])}
    made = {"cell_type": kind, "id": "x", "metadata": metadata, "source": source, **more}
    if kind == "code":
        made |= {"execution_count": 1, "outputs": [stream("by the course")]}
    return made


def stream(text):
    return {"output_type": "stream", "name": "stdout", "text": [text]}


def notebook(*cells):
    """Return a notebook as bytes."""
    made = {"cells": list(cells), "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(made, indent=1, ensure_ascii=False).encode() + b"\n"


def cells_of(data):
    return json.loads(data)["cells"]


def with_cells(data, change):
    """Return a notebook after a change of its list of cells, as JupyterLab saves it."""
    made = json.loads(data)
    change(made["cells"])
    for one in made["cells"]:
        one["source"] = "".join(one["source"]).splitlines(keepends=True)
    return json.dumps(made, indent=1, sort_keys=True).encode() + b"\n"


def ran(data, text="by the learner"):
    """Return a notebook that somebody ran with Shift-Enter to its end, and saved."""

    def run(cells):
        for number, one in enumerate(cells, 1):
            one["metadata"]["scrolled"] = True
            if one["cell_type"] == "code":
                one |= {"execution_count": number, "outputs": [stream(text)]}
            else:
                one["attachments"] = {}
        if cells and "".join(cells[-1]["source"]):
            cells.append(cell([]) | {"execution_count": None, "outputs": []})

    return with_cells(data, run)


def said(data):
    """Return what an author wrote in a notebook, by another way than the course's."""
    found = []
    for one in cells_of(data):
        text = "".join(one["source"])
        if text.startswith("<details class='course-held'>"):
            text = text.split("</summary>\n\n", 1)[1].removesuffix("\n\n</details>")
        found.append((one["cell_type"], text, one.get("attachments") or None))
    while found and found[-1] == ("code", "", None):
        found.pop()
    return found


def git(root, *words):
    """Run git in a folder, as somebody without a name or settings of their own."""
    settings = ["-c", "user.name=a", "-c", "user.email=a@b.example", "-c", "commit.gpgsign=false"]
    command = ["git", "-C", str(root), *settings, *words]
    subprocess.run(command, check=True, capture_output=True, timeout=60)


def commit(root):
    """Commit notebooks/ as it is."""
    if not (root / ".git").exists():
        git(root, "init", "-q")
    git(root, "add", "-A", "notebooks")
    git(root, "commit", "-q", "--allow-empty", "-m", "a version")
