"""Tests marked `own_process` run in a child interpreter; what it reports is reported here.

A frame hook, a raw C call or a compiled frame can kill an interpreter, or meet what other tests
have left in it. All marked tests of one module share one child; with `by="name"` those with the
same value of that parameter do; with `sharing="torch"` all modules that say so, as an import of a
framework takes longer than most of their tests; with both, all modules that say so and have that
value. A child that dies or hangs fails the test in which it did, and no other: the next child goes
on after it.
"""

import functools
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.pythons import finished

REPORTS = "COURSE_CHILD_REPORTS"
GROUPS = pytest.StashKey()
LONGEST = 1800  # seconds: a hang becomes a failure
SHARING = re.compile(r'own_process\((?:by="chapter", )?sharing="(\w+)"\)')
CHAPTER = re.compile(r"\[(\d\d)\b")  # of an item; its first parameter
# nbval, a browser and an event loop are for the parent; importing them takes longer than pytest.
BARE = ["-p", "no:cacheprovider", "--disable-plugin-autoload", "-o", "addopts="]
BARE += ["--strict-markers", "--strict-config"]


def pytest_configure(config):
    """Make the marker known."""
    config.addinivalue_line("markers", "own_process(by=None, sharing=None): run in a child")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Give the modules that share a child to one worker, with --dist=loadfile."""
    if config.option.dist != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class BySharing(LoadFileScheduling):
        def _split_scope(self, nodeid):
            path = super()._split_scope(nodeid)
            sharing, chapter = _shared(config.rootpath / path), CHAPTER.search(nodeid)
            return f"{sharing} {chapter and chapter.group(1)}" if sharing else path

    return BySharing(config, log)


@functools.cache
def _shared(path):
    """Return what a module shares its child by, as its source says; the controller runs none."""
    found = path.suffix == ".py" and SHARING.search(path.read_text("utf-8"))
    return found.group(1) if found else None


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item, nextitem):
    """Replay the child's reports of a marked test instead of running it here."""
    if item.get_closest_marker("own_process") is None or REPORTS in os.environ:
        return None
    groups = item.session.stash.setdefault(GROUPS, {})
    group = _group(item)
    if group not in groups:
        like = [other for other in item.session.items if _group(other) == group]
        groups[group] = _run_children(like)
    own, ending = groups[group][item.nodeid]
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for data in own:
        item.ihook.pytest_runtest_logreport(report=_report(item, data))
    if ending:
        item.ihook.pytest_runtest_logreport(report=_unfinished(item, ending))
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    # What an earlier test here has set up for its folder must not outlive the folder.
    item.session._setupstate.teardown_exact(nextitem)
    return True


def pytest_runtest_logreport(report):
    """In the child: write each report down as soon as it is made."""
    if REPORTS in os.environ:
        with Path(os.environ[REPORTS]).open("a") as written:
            written.write(json.dumps(report._to_json(), default=str) + "\n")


def _group(item):
    marker = item.get_closest_marker("own_process")
    if marker is None:
        return None
    called = getattr(item, "callspec", None)
    by = marker.kwargs.get("by")
    return marker.kwargs.get("sharing", item.path), called.params.get(by) if called and by else None


def _run_children(items):
    """Return for each item its reports, and how its child ended in it if the child did."""
    found = {}
    while left := [item for item in items if item.nodeid not in found]:
        reports, ending = _run_child(left)
        for item in left:
            own = [report for report in reports if report["nodeid"] == item.nodeid]
            unfinished = not own or own[-1]["when"] != "teardown"
            found[item.nodeid] = own, ending if unfinished else None
            if unfinished:
                break
    return found


def _run_child(items):
    """Run the items in a child; return its reports and how it ended."""
    with tempfile.TemporaryDirectory() as folder:
        asked, written = Path(folder, "asked"), Path(folder, "reports")
        asked.write_text("\n".join(item.nodeid for item in items))
        written.touch()
        command = [sys.executable, "-X", "faulthandler", "-m", "pytest", "-q", *BARE, f"@{asked}"]
        try:
            env, root = {**os.environ, REPORTS: str(written)}, items[0].config.rootpath
            done = finished(command, cwd=root, env=env, timeout=LONGEST)
            said = f"{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
            ending = f"the child interpreter ended with {done.returncode}\n{said}"
        except subprocess.TimeoutExpired:
            ending = f"the child interpreter did not end in {LONGEST} seconds"
        return [json.loads(line) for line in written.read_text().splitlines()], ending


def _report(item, data):
    report = pytest.TestReport._from_json(data)
    report.nodeid, report.location = item.nodeid, item.location
    if isinstance(report.longrepr, list):  # of a skipped test; JSON knows no tuples
        report.longrepr = tuple(report.longrepr)
    return report


def _unfinished(item, ending):
    return pytest.TestReport(
        item.nodeid, item.location, {}, "failed", f"not finished: {ending}", "call"
    )
