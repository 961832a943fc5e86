"""This machine -> the path of its Chromium, or a word on why the browser tests cannot run."""

import os
import shutil

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")


def find_chromium() -> str:
    """Return the path of Chromium; skip without one."""
    asked = os.environ.get("COURSE_CHROMIUM")
    found = [path for path in map(shutil.which, [asked] if asked else NAMES) if path]
    if found:
        return found[0]
    reason = f"{asked or ', '.join(NAMES)}: not found"
    pytest.skip(f"browser tests need Chromium, or its path in COURSE_CHROMIUM ({reason})")
