"""pytest's end -> what failed, in plain words; and in `--junitxml`, on which machine it ran."""

import platform
from importlib.metadata import PackageNotFoundError, version

import pytest

from tests.reports.records import ERROR, FAILED, Record, plain
from tests.reports.red import sentences

TOLD = ("pytest", "numpy", "torch", "tensorflow-cpu", "tensorflow", "jupyterlab")


def pytest_sessionstart(session):
    """Write into the report where it was made; the host's name is in it anyway."""
    from _pytest.junitxml import xml_key

    xml = session.config.stash.get(xml_key, None)
    for name, value in where(session.config).items() if xml else ():
        xml.add_global_property(name, value)


def where(config) -> dict[str, str]:
    """Return the system, the Python, how notebooks are compared, and the versions of packages."""
    found = {"system": platform.system(), "machine": platform.machine()}
    found["python"] = ".".join(platform.python_version_tuple()[:2])
    lax = getattr(config.option, "nbval_lax", False)
    found["notebooks"] = "run" if lax else "compared"
    for name in TOLD:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


@pytest.hookimpl(wrapper=True, tryfirst=True)  # the outermost: after pytest's own summary
def pytest_terminal_summary(terminalreporter):
    """Print a sentence for each failure, as plain text."""
    result = yield
    said = list(sentences(records(terminalreporter.stats), terminalreporter.config.rootpath))
    if said:
        terminalreporter.section("what failed, in plain words")
        for sentence in said:
            terminalreporter.line(f"- {sentence}")
    return result


def records(stats: dict) -> list[Record]:
    """Return the records of the reports that failed."""
    return [
        Record(*_split(report.nodeid), outcome, plain(str(report.longrepr or "")))
        for outcome in (FAILED, ERROR)
        for report in stats.get(outcome, [])
        if hasattr(report, "nodeid")
    ]


def _split(nodeid: str) -> tuple[str, str]:
    """Return the file and the name; a file that could not be read has no other name."""
    file, _, name = nodeid.partition("::")
    return file, name.rpartition("::")[2] if "[" not in name else name
