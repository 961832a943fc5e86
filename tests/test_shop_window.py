"""README, docs and their neighbours: every link leads somewhere, and there is one version."""

import re
from pathlib import Path

import pytest
import yaml

import helpers
from tests.chapter_rules import leads_nowhere
from tools import look
from tools.budgets import LOOK_BYTES

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
VERSION = helpers.__version__


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_every_link_of_a_page_leads_to_a_file(path):
    assert leads_nowhere(path.parent, path.read_text("utf-8")) == []


def test_the_readme_or_the_page_for_contributors_leads_to_every_page():
    doors = [(ROOT / name).read_text("utf-8") for name in ("README.md", "CONTRIBUTING.md")]
    others = [path.relative_to(ROOT).as_posix() for path in PAGES if path.name != "README.md"]
    assert others and [name for name in others if f"]({name})" not in "".join(doors)] == []


def test_citation_and_changelog_name_the_version():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert {"cff-version", "message", "title", "authors"} <= cited.keys()
    assert cited["version"] == VERSION
    assert f"\n## {VERSION}" in (ROOT / "CHANGELOG.md").read_text("utf-8")


def test_the_page_to_look_at_is_one_file_made_from_the_chapter_as_it_is():
    page = look.LOOK.read_text("utf-8")
    assert look.made_from() in page, "python -m tools.look makes docs/look.html anew"
    assert look.LOOK.stat().st_size <= LOOK_BYTES.most and "book-live" in page
    fetched = r"""<(?:link|script|img)[^>]* (?:src|href)=["'](?!data:)|url\(["']?(?!data:)"""
    assert re.search(fetched, page) is None and re.search(fetched, '<img alt="" src="a.png">')
    text = re.sub("<script.*?</script>", "", page, flags=re.DOTALL)
    assert re.search(r'href="(?!#|data:|https:)', text) is None, "the file is read alone"
