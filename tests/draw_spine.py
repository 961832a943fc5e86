"""The spine -> its pictures beside the notebooks: `python -m tests.draw_spine` after a change.

`tests/test_spine.py` says what in the notebooks and the README does not follow the spine any more.
"""

from pathlib import Path

from helpers.view import spine_view as spine

PICTURES = Path(__file__).parents[1] / "notebooks" / spine.PICTURES

if __name__ == "__main__":
    PICTURES.mkdir(parents=True, exist_ok=True)
    for name, svg in spine.files().items():
        (PICTURES / name).write_text(svg, encoding="utf-8", newline="\n")
