"""pytest's end -> what failed, in plain words; and in `--junitxml`, on which machine it ran.

A cell of a notebook that needs what this machine lacks is only run, and that is said, too.

Where COURSE_NO_SKIPS is `all`, a skipped test fails the run; where it is `offline`, one does whose
reason does not name the network.
"""

import contextlib
import os
import platform
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version

import pytest

from tests.needs import not_compared
from tools.reports.cells import COLOUR, explain
from tools.reports.records import ERROR, FAILED, NOT_COMPARED, SKIPPED, Record, plain
from tools.reports.red import sentences

NO_SKIPS = "COURSE_NO_SKIPS"
TOLD = ("pytest", "numpy", "torch", "tensorflow-cpu", "tensorflow", "jupyterlab")


def pytest_sessionstart(session):
    """Write into the report where it was made; the host's name is in it anyway."""
    from _pytest.junitxml import xml_key

    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter and not reporter.hasmarkup:
        session.config.option.color = "no"  # nbval writes colours unless this says so

    xml = session.config.stash.get(xml_key, None)
    for name, value in where(session.config).items() if xml else ():
        xml.add_global_property(name, value)


def where(config) -> dict[str, str]:
    """Return the system, the Python, how notebooks are compared, and the versions of packages."""
    found = {"system": platform.system(), "machine": platform.machine()}
    found["python"] = ".".join(platform.python_version_tuple()[:2])
    found["notebooks"] = "run" if getattr(config.option, "nbval_lax", False) else "compared"
    for name in TOLD:
        with contextlib.suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    """Say of a cell that failed what nbval leaves out; without colours where nobody sees them."""
    report = yield
    if hasattr(item, "cell") and isinstance(report.longrepr, str):
        stored, came = item.cell.outputs, item.test_outputs or []
        report.longrepr = explain(report.longrepr, stored, came, item.sanitize)
        if item.config.option.color == "no":
            report.longrepr = COLOUR.sub("", report.longrepr)
    return report


def pytest_sessionfinish(session):
    """Fail the run for what must not be skipped."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter and any(forbidden(reporter.stats)):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def forbidden(stats: dict) -> Iterator[str]:
    """Yield a sentence for each file and reason for which a test was skipped and must not be."""
    allowed = {"all": False, "offline": True}.get(os.environ.get(NO_SKIPS))
    if allowed is None:
        return
    skips = [report for report in stats.get(SKIPPED, []) if hasattr(report, "longrepr")]
    told = {(_split(report.nodeid)[0], report.longrepr[-1]) for report in skips}
    for file, reason in sorted(told):
        if not (allowed and "network" in reason):
            yield f"{file} has a test that was skipped, which is not allowed here ({reason})"


@pytest.hookimpl(wrapper=True, tryfirst=True)  # the outermost: after pytest's own summary
def pytest_terminal_summary(terminalreporter):
    """Print a sentence for what was not compared and for each failure, as plain text."""
    result = yield
    stats, config = terminalreporter.stats, terminalreporter.config
    failed = list(sentences(records(stats), config.rootpath, where(config)))
    parts = {
        "what was not compared": list(not_compared(uncompared(stats))),
        "what failed, in plain words": [*failed, *forbidden(stats)],
    }
    for heading, said in parts.items():
        if said:
            terminalreporter.section(heading)
            for sentence in said:
                terminalreporter.line(f"- {sentence}")
    return result


def uncompared(stats: dict) -> Iterator[tuple[str, str]]:
    """Yield the file and the tag of each cell that was run and not compared."""
    for report in (one for reports in stats.values() for one in reports):
        for name, value in getattr(report, "user_properties", ()):
            if name == NOT_COMPARED and report.when == "call":
                yield _split(report.nodeid)[0], value


def records(stats: dict) -> list[Record]:
    """Return the records of the reports that failed."""
    found = [(report, outcome) for outcome in (FAILED, ERROR) for report in stats.get(outcome, [])]
    return [
        Record(*_split(one.nodeid), outcome, plain(str(one.longrepr or "")))
        for one, outcome in found
        if hasattr(one, "nodeid")
    ]


def _split(nodeid: str) -> tuple[str, str]:
    """Return the file and the name; a file that could not be read has no other name."""
    file, _, name = nodeid.partition("::")
    return file, name.rpartition("::")[2] if "[" not in name else name
