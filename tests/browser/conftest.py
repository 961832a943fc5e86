"""A browser and one JupyterLab for all tests of this folder, skipped with a reason without them."""

import contextlib
import os
import shutil
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import expect

from tests.browser import gallery
from tests.browser.chromium import find_chromium
from tests.browser.lab_page import GALLERY, NOTEBOOKS, WIDE, NotebookPage
from tests.browser.lab_server import ROOT, LabServer

PATIENCE_MS = 60_000


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of Chromium."""
    return find_chromium()


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args, chromium):
    as_root = hasattr(os, "geteuid") and os.geteuid() == 0
    args = ["--no-sandbox"] * as_root + ["--disable-dev-shm-usage"]
    return {**browser_type_launch_args, "executable_path": chromium, "args": args}


@pytest.fixture(scope="session")
def lab(chromium, tmp_path_factory):
    """One JupyterLab for the session; it serves copies, never the repository."""
    server = LabServer(tmp_path_factory.mktemp("lab") / "home")
    for name in NOTEBOOKS:
        shutil.copy(ROOT / "notebooks" / name, server.folder)
    shutil.copytree(ROOT / "notebooks" / "images", server.folder / "images")
    nbformat.write(gallery.build(), server.folder / GALLERY)
    server.execute(GALLERY)
    server.start()
    yield server
    server.stop()


class Tabs:
    """Pages that hold JupyterLab already; one in which a notebook was `run` is lent no reader."""

    def __init__(self, context, lab, session):
        self._context, self._lab, self._session = context, lab, session
        self._free = {True: [], False: []}

    @contextlib.contextmanager
    def tab(self, *, run: bool):
        """Lend a tab; after a failure it is not lent again, whatever state it is in."""
        failed = self._session.testsfailed
        page = self._free[run].pop() if self._free[run] else self._context.new_page()
        notebook = NotebookPage(page, self._lab)
        yield notebook
        if self._session.testsfailed == failed:
            notebook.leave()
            self._free[run].append(page)
        else:
            page.close()


@pytest.fixture(scope="session")
def tabs(request, browser, lab):
    """One browser profile for the session, so that JupyterLab itself is fetched once."""
    context = browser.new_context(viewport=WIDE, service_workers="block", color_scheme="light")
    context.set_default_timeout(PATIENCE_MS)
    expect.set_options(timeout=PATIENCE_MS)  # a busy machine draws a long notebook slowly
    yield Tabs(context, lab, request.session)
    context.close()
    expect.set_options(timeout=None)


@pytest.fixture(scope="module")
def copied(lab):
    """Return a function that puts a changed copy of a served notebook beside it."""

    def copier(name: str, label: str, *, trusted=False, change=lambda notebook: None) -> str:
        copy = f"{Path(name).stem}-{label}.ipynb"
        notebook = nbformat.read(lab.folder / name, as_version=4)
        change(notebook)
        notebook.metadata["copy"] = label  # Jupyter trusts contents, so every copy has its own
        nbformat.write(notebook, lab.folder / copy)
        if trusted:
            lab.trust(copy)
        return copy

    return copier


@pytest.fixture(scope="module")
def open_copy(lab, tabs, copied):
    """Return a function that opens a changed copy of a served notebook, to be run perhaps."""
    with contextlib.ExitStack() as lent:

        def opener(name: str, label: str, **changed) -> NotebookPage:
            notebook = lent.enter_context(tabs.tab(run=True))
            return notebook.open(copied(name, label, **changed))

        yield opener
    lab.end_kernels()
