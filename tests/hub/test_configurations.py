"""hub/'s configurations: the chart's schema, one start for all, limits and tables as measured."""

import os
import re
from pathlib import Path

import pytest
import yaml
from traitlets.config import Config

from hub.trial import chart, links, paper
from hub.trial.environment import HUB, ROOT

README = (HUB / "README.md").read_text("utf-8")
START = (HUB / "start_learner.py").read_text("utf-8")
MIB = 2**20


@pytest.fixture
def folder() -> Path:
    named = os.environ.get("COURSE_CHART")
    if not named:
        how = "COURSE_CHART names its folder (hub/README.md has how)"
        pytest.skip(f"the chart of Zero to JupyterHub comes by the network: {how}")
    return Path(named)


def littlest() -> Config:
    given = Config()
    exec((HUB / "tljh/course.py").read_text("utf-8"), {"get_config": lambda: given})
    return given


def mib(size: str) -> int:
    """Return what JupyterHub makes of a size."""
    return int(float(size[:-1]) * {"M": MIB, "G": 1024 * MIB}[size[-1]] / MIB)


def test_the_values_fit_the_schema_of_the_chart(folder):
    assert chart.faults(folder) == []


def test_every_hub_starts_learners_with_the_same_file_on_a_named_branch():
    cluster, one = chart.read(chart.VALUES)["singleuser"], littlest()["Spawner"]
    for command, variables, opens in (
        (cluster["cmd"], cluster["extraEnv"], cluster["defaultUrl"]),
        (one.cmd, one.environment, one.default_url),
    ):
        assert command[1] == "/srv/course/hub/start_learner.py"
        assert variables["COURSE_BRANCH"] == "main"
        assert all(f'"{name}"' in START for name in variables)
        assert opens == f"/lab/tree/{links.CHAPTERS}/00_start_here.ipynb"


def test_the_littlest_hub_keeps_the_admins_that_it_has():
    """Its installer writes them into config.yaml; what the README does there only adds to it."""
    added = (HUB / "tljh/config.yaml").read_text("utf-8")
    whole = yaml.safe_load("users:\n  admin:\n  - you\n" + added)
    assert whole == {"users": {"admin": ["you"]}, **yaml.safe_load(added)}
    commands = re.findall(r"^ +(sudo .*/config\.yaml\b.*)$", README, re.MULTILINE)
    assert commands == ["sudo tee -a /opt/tljh/config/config.yaml < hub/tljh/config.yaml"]


def test_limits_are_those_that_were_measured():
    memory = chart.read(chart.VALUES)["singleuser"]["memory"]
    littlest_limit = yaml.safe_load((HUB / "tljh/config.yaml").read_text("utf-8"))["limits"]
    assert mib(memory["guarantee"]) == paper.guarantee()
    assert mib(memory["limit"]) == mib(littlest_limit["memory"]) == paper.limit()


def test_the_tables_of_the_page_are_those_that_were_measured():
    page = paper.PAGE.read_text("utf-8")
    assert paper.placed(page) == page
    assert all(f"<!-- {name} -->" in page for name in paper.tables())


def test_pins_are_exact_and_none_is_the_courses_again():
    def names(path):
        lines = [line for line in path.read_text("utf-8").splitlines() if line[:1] not in ("", "#")]
        assert all("==" in line for line in lines)
        return {line.partition("==")[0].lower().replace("_", "-") for line in lines}

    assert names(HUB / "constraints.txt").isdisjoint(names(ROOT / "constraints.txt"))


@pytest.mark.parametrize("path", ["package-lock.json", "package.json", "constraints.txt"])
def test_no_pin_names_a_host(path):
    text = (HUB / path).read_text("utf-8")
    assert '"resolved"' not in text
    assert path == "package-lock.json" or "://" not in text  # it holds who asks for funds
