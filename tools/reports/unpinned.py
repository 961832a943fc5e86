"""requirements.txt -> the same names without versions, for the week's run on the newest releases.

`python -m tools.reports.unpinned` prints them; markers stay, the course's own folder goes.
"""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
_NEED = re.compile(r"^([A-Za-z0-9._-]+(?:\[[^\]]*\])?)[^;#]*(;[^#]*)?")


def unpinned(text: str) -> list[str]:
    """Return the requirements of a pip file by name alone, with their markers."""
    lines = [line.strip() for line in text.splitlines()]
    found = [_NEED.match(line) for line in lines if not line.startswith("-")]
    return [f"{need[1]} {(need[2] or '').strip()}".strip() for need in found if need]


if __name__ == "__main__":
    print("\n".join(unpinned((ROOT / "requirements.txt").read_text(encoding="utf-8"))))
