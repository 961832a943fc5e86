"""What tests of captures share."""

import gc

import pytest


@pytest.fixture
def small_heap():
    """Set aside what was there before: a search finds the same in the rest, and sooner."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()
