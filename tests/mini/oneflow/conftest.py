"""Each test has a session of its own; all share one cache of compiled definitions."""

import pytest

from helpers.mini import oneflow as flow
from helpers.mini.oneflow import cpp_program
from helpers.safety.folders import ManagedDirectory


@pytest.fixture(autouse=True)
def session():
    with flow.fresh_session() as own:
        yield own


@pytest.fixture(scope="package", autouse=True)
def compiled(tmp_path_factory):
    """A cache that is empty at first: what the tests compile, they compile themselves."""
    folder = tmp_path_factory.mktemp("compiled")
    usual, cpp_program.cache_folder = cpp_program.cache_folder, lambda: ManagedDirectory(folder)
    yield folder
    cpp_program.cache_folder = usual
