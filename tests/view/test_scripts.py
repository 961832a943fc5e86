"""The scripts of the widgets: their bundles are fresh, linted, and their pure parts are tested."""

import re
import shutil
import subprocess

import pytest

from tools.bundle_scripts import (
    BUNDLES,
    INSTALL,
    SOURCES,
    TESTS,
    Bundle,
    banner,
    build,
    find_modules,
    is_installed,
    run_biome,
)

bundles = pytest.mark.parametrize("bundle", BUNDLES, ids=[bundle.entry for bundle in BUNDLES])
NOT_INSTALLED = f"no .tools/scripts: `{INSTALL}` makes it"
AGAIN = "the sources have changed: run `python -m tools.bundle_scripts`"


@pytest.fixture
def installed():
    """The programs that bundle and lint."""
    if not is_installed():
        pytest.skip(NOT_INSTALLED)


@bundles
def test_a_bundle_is_made_from_the_sources_that_are_here(bundle):
    first, _, rest = bundle.path.read_text(encoding="utf-8").partition("\n")
    assert first == banner(bundle), AGAIN
    assert rest


@bundles
def test_a_bundle_is_what_esbuild_makes_of_them(bundle, installed):
    assert bundle.path.read_bytes() == build(bundle), AGAIN


def test_a_change_in_any_module_makes_another_banner(tmp_path, monkeypatch):
    monkeypatch.setattr("tools.bundle_scripts.ROOT", tmp_path)
    monkeypatch.setattr("tools.bundle_scripts.SOURCES", tmp_path)
    bundle, part = Bundle("a", tmp_path), tmp_path / "parts" / "b.js"
    part.parent.mkdir()
    part.write_text("export const b = 1;\n")
    bundle.module.write_text('import {\n  b,\n} from "./parts/b.js";\nb();\n')
    before = banner(bundle)
    part.write_text("export const b = 2;\n")
    assert banner(bundle) != before


def test_every_module_is_part_of_a_bundle():
    bundled = {module for bundle in BUNDLES for module in find_modules(bundle.module)}
    assert bundled == {*SOURCES.rglob("*.js")}


def test_scripts_are_linted_and_formatted(installed):
    assert run_biome("ci", "--error-on-warnings") == 0


def test_every_export_is_described():
    undescribed = [
        f"{path.name}: {line}"
        for path in SOURCES.rglob("*.js")
        for above, line in re.findall(
            r"(.*)\n(export (?:async )?(?:function|const).*)", path.read_text(encoding="utf-8")
        )
        if not above.endswith("*/")
    ]
    assert undescribed == []


def test_pure_parts_do_what_their_tests_say():
    node = shutil.which("node")
    if node is None:
        pytest.skip("there is no node")
    command = [node, "--test", *map(str, sorted(TESTS.glob("*.test.mjs")))]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False, timeout=120)
    assert done.returncode == 0, done.stdout
