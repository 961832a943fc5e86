"""helpers/internals/random_states.py: what a block draws changes nothing that is drawn later."""

import random
import sys

import pytest

from helpers.internals.random_states import read_random_states, restore_random_states

pytestmark = pytest.mark.own_process(sharing="torch")


def draw_numbers():
    """Return a draw function for each generator, by its name in the states."""
    torch = pytest.importorskip("torch")
    numpy = pytest.importorskip("numpy")
    return {
        "random": random.random,
        "np.random": lambda: float(numpy.random.random()),
        "torch.random": lambda: float(torch.rand(())),
    }


@pytest.mark.parametrize("name", ["random", "np.random", "torch.random"])
def test_a_restored_generator_draws_the_same_number_again(name):
    draw = draw_numbers()[name]
    states = read_random_states()
    first = draw()
    changed = {key for key, state in read_random_states().items() if state != states[key]}
    assert changed == {name}
    restore_random_states(states)
    assert draw() == first


def test_a_library_that_is_not_loaded_has_no_state(monkeypatch):
    monkeypatch.delitem(sys.modules, "numpy", raising=False)
    assert "np.random" not in read_random_states() and "random" in read_random_states()
