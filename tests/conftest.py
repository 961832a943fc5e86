"""What tests of all rooms share."""

import pytest


@pytest.fixture
def refused():
    """Return a function: assert that a call raises this error, in one sentence with these words."""

    def refuses(error, words, call, /, *args, **options):
        with pytest.raises(error, match=words) as caught:
            call(*args, **options)
        assert "\n" not in str(caught.value), caught.value

    return refuses
