"""`course.py check`: a row for each thing that the course needs, of packages that were tried."""

import re
from importlib.metadata import version

import pytest

from helpers.course import checkout, checkup, commands
from helpers.safety.package_trial import Trial


@pytest.fixture
def checked(course, monkeypatch, capsys):
    """Run `check` against packages of this very Python; the pins say which are imported."""

    def check(pins, fault=None):
        for name in ("constraints.txt", "requirements.txt"):
            (course.ROOT / name).write_text("\n".join(pins))
        keys = " ".join(pin.split("=")[0] for pin in pins[:2])
        monkeypatch.setattr(checkup, "KEY_PACKAGES", keys)
        if fault:
            monkeypatch.setattr(checkup, "try_packages", lambda *names, done: Trial(*fault))
        monkeypatch.setattr(commands, "go_on", lambda python, words: go_on(words))
        code = commands.start(["check"])
        return code, capsys.readouterr().out

    def go_on(words):
        from helpers.course.__main__ import run

        return run(words)

    return check


def test_check_passes_where_all_is_there(checked):
    code, said = checked([f"{name}=={version(name)}" for name in ("nbval", "networkx")])
    assert code == 0
    for what in ("Python", "environment", "nbval", "networkx", "memory", "disk", "C compiler"):
        assert re.search(rf"^(ok|note|optional) +{what} ", said, re.MULTILINE), said


def test_check_tells_what_is_missing(checked):
    pins = [f"{name}=={version(name)}" for name in ("nbval", "networkx")]
    code, said = checked([*pins, "no-such-package==1.0"])
    assert code == 1
    assert re.search(r"^MISSING +no-such-package .*course.py setup", said, re.MULTILINE)
    assert "no-such-package" in said.splitlines()[-1]


def test_check_tells_what_is_there_and_broken(checked):
    """A key package and another one, a consequence, an older version, and what nobody needs."""
    pins = ["torch==2.0", "numpy==2.0", "sympy==1.0 ; python_version > '3'", "jinja2==1.0"]
    faults = {"sympy": "its file sympy/x.py is missing", "jinja2": "hangs", "strange": "is cut"}
    versions = dict.fromkeys(["torch", "numpy", "sympy", "jinja2"], "1.0")
    code, said = checked(pins, fault=(faults, {"torch": "sympy"}, versions))
    assert code == 1 and "torch, jinja2, sympy" in said.splitlines()[-1]
    for mark, name, fact, cure in (
        ("MISSING", "torch", "sympy", checkout.REPAIR),
        ("note", "numpy", "1.0, pinned 2.0", checkout.REPAIR),
        ("MISSING", "sympy", "sympy/x.py", checkout.REPAIR),
        ("MISSING", "jinja2", "hangs", checkout.REPAIR),
        ("note", "strange", "is cut", ""),
    ):
        row = rf"^{mark} +{name} +.*{re.escape(fact)}.*{re.escape(cure)}$"
        assert re.search(row, said, re.MULTILINE), (name, said)


def test_check_says_what_it_imports_where_that_takes_long(checked, monkeypatch):
    monkeypatch.setattr(checkup, "SILENT", -1)
    _, said = checked([f"{name}=={version(name)}" for name in ("nbval", "networkx")])
    for number, name in enumerate(("nbval", "networkx", "whoruns"), 1):
        assert re.search(rf"\b{number}\b.*\b3\b.*\b{name}$", said, re.MULTILINE), said


def test_check_reads_the_pins_of_this_machine(course):
    lines = ("a~=1.0  # words", "# b==1", "-e .", "C_d==2 ; python_version > '3'")
    text = "\n".join([*lines, "e==3 ; os_name == 'none'"])
    (checkout.ROOT / "pins.txt").write_text(text)
    assert checkup.read_versions("pins.txt") == {"a": {"1.0"}, "c-d": {"2"}}
