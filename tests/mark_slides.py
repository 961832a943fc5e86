"""The rule of helpers/course/slides.py -> the slideshow metadata of the chapters' cells.

python -m tests.mark_slides       after cells were added, moved or renamed
"""

import json
from pathlib import Path

from helpers.course.slides import mark

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("0*.ipynb"))


def marked(text: str) -> str:
    """Return a notebook, as the text of its file, with the metadata that the rule gives it."""
    notebook = json.loads(text)
    mark(notebook["cells"])
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for path in NOTEBOOKS:
        path.write_text(marked(path.read_text("utf-8")), "utf-8")
