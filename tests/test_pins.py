"""requirements.txt, constraints.txt and environment.yml say the same, for every machine."""

import re
import tomllib
from itertools import chain
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

REPO = Path(__file__).parents[1]
PIN_FILES = ("requirements.txt", "constraints.txt", "environment.yml", "pyproject.toml")
SYSTEMS = ("linux", "x86_64"), ("linux", "aarch64"), ("darwin", "arm64"), ("win32", "AMD64")
CPYTHON = {"implementation_name": "cpython", "platform_python_implementation": "CPython"}
MACHINES = [
    {"sys_platform": platform, "platform_machine": machine, "python_version": python}
    | {"os_name": "nt" if platform == "win32" else "posix", "python_full_version": f"{python}.9"}
    | CPYTHON
    for platform, machine in SYSTEMS
    for python in ("3.11", "3.12", "3.13")
]
ADDRESS = re.compile(r"https?:|file:|--(extra-)?index-url|--find-links|\w\.(org|io|com|net|dev)\b")


def read(name):
    return (REPO / name).read_text(encoding="utf-8")


def requirements(text):
    """Return the requirements of a pip file, less comments and options."""
    lines = [line.partition(" #")[0].strip() for line in text.splitlines()]
    return [Requirement(line) for line in lines if line and not line.startswith(("#", "-"))]


def applies(requirement, machine):
    return requirement.marker is None or requirement.marker.evaluate(machine)


def faults(needs, pins, machine):
    """Return what is wrong between needs and pins on one kind of machine."""
    for need in [need for need in needs if applies(need, machine)]:
        name = canonicalize_name(need.name)
        here = [p for p in pins if canonicalize_name(p.name) == name and applies(p, machine)]
        if len(here) != 1:
            yield f"{need.name} has {len(here)} pins"
        elif not need.specifier.contains(str(here[0].specifier)[2:]):
            yield f"{need.name}: the pin {here[0].specifier} is not {need.specifier}"


@pytest.mark.parametrize("machine", MACHINES, ids=lambda m: "-".join(list(m.values())[:3]))
def test_every_requirement_has_one_fitting_pin(machine):
    needs, pins = requirements(read("requirements.txt")), requirements(read("constraints.txt"))
    assert list(faults(needs, pins, machine)) == []
    frameworks = [n.name for n in needs if n.name.startswith("tensorflow") and applies(n, machine)]
    small = machine["sys_platform"] == "win32" or machine["platform_machine"] == "x86_64"
    assert frameworks == ["tensorflow-cpu" if small else "tensorflow"]


def test_pins_are_exact():
    for pin in requirements(read("constraints.txt")):
        assert re.fullmatch(r"==[\w.]+", str(pin.specifier)), pin


def ranges():
    """Return what the package asks for: the verbs' needs, and the extras."""
    project = tomllib.loads(read("pyproject.toml"))["project"]
    extras = project["optional-dependencies"].values()
    return list(map(Requirement, [*project["dependencies"], *chain(*extras)]))


@pytest.mark.parametrize("machine", MACHINES[::3], ids=lambda m: m["sys_platform"])
def test_course_pins_what_the_package_asks_for_within_its_ranges(machine):
    assert list(faults(ranges(), requirements(read("constraints.txt")), machine)) == []
    course = {(one.name, str(one.marker)) for one in requirements(read("requirements.txt"))}
    assert {(one.name, str(one.marker)) for one in ranges()} <= course


def test_package_asks_for_a_lowest_and_a_highest_release():
    for one in ranges():
        assert sorted(bound.operator for bound in one.specifier) == ["<", ">="], one


def test_version_is_said_once():
    assert tomllib.loads(read("pyproject.toml"))["project"]["dynamic"] == ["version"]


def test_tests_build_the_package_with_what_an_install_builds_it_with():
    built = tomllib.loads(read("pyproject.toml"))["build-system"]["requires"]
    assert set(map(str, requirements(read("requirements.txt")))).issuperset(built)


def test_course_installs_its_own_helpers():
    lines = read("requirements.txt").splitlines()
    assert "-e ." in lines
    assert [line for line in lines if line.startswith("-")] == ["-e ."]
    assert not [line for line in read("constraints.txt").splitlines() if line.startswith("-")]


def test_conda_takes_its_pins_from_the_same_files():
    environment = yaml.safe_load(read("environment.yml"))
    python, pip, from_pip = environment["dependencies"]
    assert (python, pip) == ("python=3.11", "pip")
    assert from_pip == {"pip": ["-r requirements.txt", "-c constraints.txt"]}


@pytest.mark.parametrize("name", PIN_FILES)
def test_no_pin_file_names_a_host(name):
    assert ADDRESS.findall(read(name)) == []
