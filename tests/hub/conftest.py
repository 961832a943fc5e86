"""One hub for the tests of this folder, skipped with a reason where its environment is missing."""

import pytest

from hub.trial import environment


@pytest.fixture(scope="session")
def hub(tmp_path_factory):
    """A hub that runs, with a teacher's repository of this checkout."""
    if why := environment.missing():
        pytest.skip(f"no hub to try ({why})")
    from hub.trial.server import Hub

    with Hub(tmp_path_factory.mktemp("hub")) as running:
        yield running
