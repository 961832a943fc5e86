"""The files for a code host are what their schemas say, and say what they are meant to."""

import json
import re
import subprocess
from pathlib import Path

import pytest
import yaml

from helpers.course.checkout import SUPPORTED, dotted
from helpers.course.tests import REFERENCE
from tests.workflows.install import CHECKER, HERE
from tools.reports.plugin import NO_SKIPS

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
CONTAINER = ROOT / ".devcontainer/devcontainer.json"
# schemas/devContainer.base.schema.json of devcontainers/spec (CC BY 4.0), commit c95ffee, without
# its descriptions.
SCHEMA = HERE / "devcontainer.schema.json"
FOR_WORKFLOWS = ("--builtin-schema", "vendor.github-workflows")
FOR_CONTAINERS = ("--force-filetype", "json", "--schemafile", SCHEMA)


def check(schema, path):
    """Run the checker; skip without it."""
    if not CHECKER.exists():
        pytest.skip("no .tools/workflows: `python3 -m tests.workflows.install` makes it")
    done = subprocess.run([CHECKER, *schema, path], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflow_is_what_its_schema_says(path):
    assert check(FOR_WORKFLOWS, path)[0] == 0, check(FOR_WORKFLOWS, path)[1]


def test_container_is_what_its_schema_says():
    assert check(FOR_CONTAINERS, CONTAINER)[0] == 0, check(FOR_CONTAINERS, CONTAINER)[1]


def test_a_faulty_file_is_told(tmp_path):
    faulty = tmp_path / "faulty.yml"
    faulty.write_text(WORKFLOWS[0].read_text("utf-8").replace("runs-on", "runs_on"), "utf-8")
    code, said = check(FOR_WORKFLOWS, faulty)
    assert code == 1 and "'runs-on' is a required property" in said
    other = tmp_path / "devcontainer.json"
    other.write_text(json.dumps({**json.loads(CONTAINER.read_text("utf-8")), "image": 3}))
    assert check(FOR_CONTAINERS, other)[0] == 1


def jobs(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"]


def scripts(job):
    return "\n".join(step.get("run", "") for step in job["steps"])


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_every_job_ends_and_may_only_read(path):
    whole = yaml.safe_load(path.read_text(encoding="utf-8"))
    granted = [whole.get("permissions"), *(j.get("permissions") for j in whole["jobs"].values())]
    assert any(granted) and all("timeout-minutes" in job for job in whole["jobs"].values())


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_what_a_workflow_starts_is_there(path):
    for job in jobs(path).values():
        for module in re.findall(r"python -m (tests[\w.]*)", scripts(job)):
            place = ROOT.joinpath(*module.split("."))
            assert place.with_suffix(".py").exists() or (place / "__main__.py").exists(), module
        for command in re.findall(r"course\.py (\w+)", scripts(job)):
            assert f"course.py {command}" in (ROOT / "course.py").read_text("utf-8"), command


def test_both_commands_on_each_system_and_python():
    found = jobs(ROOT / ".github/workflows/tests.yml")
    matrix = found["commands"]["strategy"]["matrix"]
    assert {tuple(map(int, python.split("."))) for python in matrix["python"]} == set(SUPPORTED)
    assert {name.partition("-")[0] for name in matrix["system"]} == {"ubuntu", "macos", "windows"}
    for job in ("commands", "all-of-it"):
        assert "course.py lab" in scripts(found[job])
        assert re.search(r"course\.py test|\.ci/run", scripts(found[job]))
    assert set(found["notebooks"]["strategy"]["matrix"]["how"]) == {"--nbval", "--nbval-lax"}


def test_on_a_code_host_one_job_skips_nothing():
    job = jobs(ROOT / ".github/workflows/tests.yml")["all-of-it"]
    assert job["env"] == {NO_SKIPS: "all"}
    pythons = job["steps"][1]["with"]["python-version"].split()
    assert {tuple(map(int, version.split("."))) for version in pythons} == set(SUPPORTED)
    assert pythons[-1] == dotted(REFERENCE)  # the last one is python3


def test_the_week_ends_with_what_moved_whatever_came_of_the_suite():
    steps = jobs(ROOT / ".github/workflows/weekly.yml")["newest"]["steps"]
    [suite] = [step for step in steps if "pytest" in step.get("run", "")]
    [moved] = [step for step in steps if "tools.reports.moved" in step.get("run", "")]
    [report] = re.findall(r"--junitxml=(\S+)", suite["run"])
    assert suite["continue-on-error"] and moved["if"] == "always()" and report in moved["run"]
    assert any(step.get("if") == f"steps.{suite['id']}.outcome != 'success'" for step in steps)


def test_the_week_tries_the_package_on_its_oldest_and_newest_releases():
    job = jobs(ROOT / ".github/workflows/weekly.yml")["package"]
    tried = {one["resolution"] for one in job["strategy"]["matrix"]["include"]}
    assert tried == {"lowest-direct", "highest"}
    copied = re.findall(r"(?:tests|tools)/\w+\.py", scripts(job))
    assert len(copied) == 2 and all((ROOT / name).is_file() for name in copied)
