"""Without Chromium the browser tests are skipped with a reason."""

import sys

import pytest

from tests.browser.chromium import find_chromium


@pytest.fixture(autouse=True)
def no_chromium(monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("COURSE_CHROMIUM", raising=False)


def test_skips_with_a_reason():
    with pytest.raises(pytest.skip.Exception, match="need Chromium.*chromium-browser"):
        find_chromium()


def test_named_browser_is_taken_or_missed(monkeypatch):
    monkeypatch.setenv("COURSE_CHROMIUM", sys.executable)
    assert find_chromium() == sys.executable
    monkeypatch.setenv("COURSE_CHROMIUM", "no-such-browser")
    with pytest.raises(pytest.skip.Exception, match="no-such-browser: not found"):
        find_chromium()
