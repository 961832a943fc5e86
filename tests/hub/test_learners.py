"""Two learners on a real JupyterHub: what they do there, and that nothing of it is lost."""

import asyncio
import os
from concurrent.futures import ThreadPoolExecutor

import nbformat
import pytest
from playwright.sync_api import sync_playwright

from helpers.course.fresh import fresh
from hub.trial import environment, kills
from hub.trial.learner import Learner, Refused
from hub.trial.links import link
from hub.trial.visit import Visit, written
from tests.browser.chromium import find_chromium

pytestmark = pytest.mark.long

PATIENCE_MS = 120_000
CHAPTERS = ("03_bytecode_and_frames.ipynb", "00_start_here.ipynb")


def apart(coroutine):
    """Run it in a thread of its own: a browser that is open keeps a loop in this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, coroutine).result()


def work(hub, name):
    return hub.home(name) / "course/work"


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    """A hub that runs, with a teacher's repository of this checkout."""
    if why := environment.missing():
        pytest.skip(f"no hub to try ({why})")
    from hub.trial.server import Hub

    with Hub(tmp_path_factory.mktemp("hub")) as running:
        yield running


@pytest.fixture(scope="module")
def visits(hub):
    """Two learners who came at the same time, each to another chapter, and did all there is."""

    async def room():
        both = [Visit(Learner(hub, f"learner{n}"), name) for n, name in enumerate(CHAPTERS)]
        await asyncio.gather(*(one.whole() for one in both))
        for one in both:
            await one.learner.close()
        return both

    return apart(room())


def with_learner(hub, name, does):
    """Log in with a new browser and do something; return what that gave."""

    async def session():
        learner = Learner(hub, name)
        await learner.log_in()
        try:
            return await does(learner)
        finally:
            await learner.close()

    return apart(session())


def test_both_run_all_cells_step_solve_and_save(visits):
    assert [one.faults for one in visits] == [[], []]
    assert [one.stepped_to for one in visits] == [1, 1]
    assert all("passed" in one.checked for one in visits)
    assert all({"server", "first output", "all cells"} == set(one.seconds) for one in visits)


def test_each_has_a_copy_of_their_own(hub, visits):
    for one, other in (visits, visits[::-1]):
        home = work(hub, one.learner.name)
        saved = nbformat.read(home / one.chapter, as_version=4)
        untouched = (home / other.chapter).read_bytes()
        assert written(saved) == written(one.notebook)
        assert untouched == fresh(hub.upstream.folder / "notebooks" / other.chapter)
        assert '"passed"' in (home / "progress.jsonl").read_text("utf-8")


def test_a_wrong_password_is_refused(hub):
    class Stranger:
        url, password = hub.url, "wrong"

    async def knock():
        learner = Learner(Stranger, "stranger")
        await learner.log_in()

    with pytest.raises(Refused):
        apart(knock())


def test_an_update_brings_what_is_new_and_keeps_what_learners_did(hub, visits):
    name, chapter = visits[0].learner.name, visits[0].chapter
    before = {path.read_bytes() for path in work(hub, name).glob("[!.]*.*") if path.is_file()}
    notebooks = hub.upstream.folder / "notebooks"
    changed = nbformat.read(notebooks / chapter, as_version=4)
    changed.cells.append(nbformat.v4.new_markdown_cell("The teacher has said one thing more."))
    nbformat.write(changed, notebooks / chapter)
    (notebooks / "08_new.ipynb").write_bytes((notebooks / CHAPTERS[1]).read_bytes())
    hub.upstream.publish("Change chapter 3 and add chapter 8")

    async def link_then_restart(learner):
        await learner.pull()
        await learner.leave()
        await learner.enter()
        return await learner.read("08_new.ipynb")

    assert with_learner(hub, name, link_then_restart).cells
    course = hub.home(name) / "course"
    assert (course / "notebooks" / chapter).read_bytes() == (notebooks / chapter).read_bytes()
    after = {path.read_bytes() for path in work(hub, name).glob("[!.]*.*") if path.is_file()}
    assert before <= after, "a copy that was renewed is kept beside"


def test_without_the_code_host_learners_go_on_with_what_they_have(hub, visits):
    there = hub.upstream.folder
    away = there.rename(there.with_name("away"))
    name, chapter = visits[1].learner.name, visits[1].chapter

    async def restart(learner):
        await learner.leave()
        await learner.enter()
        return await learner.read(chapter)

    try:
        assert written(with_learner(hub, name, restart)) == written(visits[1].notebook)
        assert "The learner's server starts without this step" in hub.log
    finally:
        away.rename(there)


def test_a_link_to_a_branch_that_is_not_there_says_so(hub, visits):
    with pytest.raises(Refused, match="the pull ended with"):
        with_learner(hub, visits[0].learner.name, lambda one: one.pull("no-such-branch"))


def test_what_was_saved_outlives_every_kill(hub):
    found = apart(kills.everything(hub, rounds=1))
    lost = {what: told["lost"] for what, told in found.items()}
    names = "the kernel's names"
    assert lost == {"kernel": names, "hub": "", "proxy": "", "server": names}


def read_by_link(hub, chapter):
    """Follow the link to a chapter in a browser of its own, and log in on the way."""
    with sync_playwright() as playwright:
        as_root = ["--no-sandbox"] * (os.geteuid() == 0)
        browser = playwright.chromium.launch(
            executable_path=find_chromium(), args=[*as_root, "--disable-dev-shm-usage"]
        )
        page = browser.new_page()
        page.set_default_timeout(PATIENCE_MS)
        page.goto(link(hub.url, hub.upstream.url, "main", chapter))
        page.get_by_label("Username").fill("reader")
        page.get_by_label("Password").fill(hub.password)
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_url(f"**/user/reader/lab/tree/course/work/{chapter}")
        page.locator(".jp-Notebook .jp-Cell").first.wait_for()
        assert "not trusted" not in page.locator("#jp-main-statusbar").inner_text().lower()
        browser.close()


def test_the_link_opens_the_own_copy_in_a_browser(hub):
    chapter = CHAPTERS[1]
    with ThreadPoolExecutor(1) as thread:  # the same loop would be in the way
        thread.submit(read_by_link, hub, chapter).result()
    assert (work(hub, "reader") / chapter).exists()
