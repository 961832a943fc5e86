"""The random numbers of TensorFlow: drawn apart from those of the program, and put back."""

import random
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from ..safety.restoring import patched
from . import tensorflow_private


class RandomUse:
    """What random numbers of TensorFlow a block has used."""

    def __init__(self):
        """Begin with nothing used."""
        #: whether the block has drawn from what the program shares
        self.drawn = False
        #: whether it ran an eager op with a seed of its own. Such an op keeps its place in the
        #: stream in C++, where nobody can set it.
        self.has_own_seed = False


@contextmanager
def random_numbers_apart() -> Iterator[RandomUse]:
    """Draw other op seeds in the block than the program will draw after it.

    The seed of the context and the global generator are afterwards as before. A kernel keeps what
    it has drawn for its seeds, so that to restore the generator of op seeds is not enough.
    """
    context = tensorflow_private.context.context()
    seeds = tensorflow_private.random_seed
    original = seeds.get_seed
    use = RandomUse()

    def get_seed(op_seed):
        """Note a seed of an op's own: TensorFlow calls this for each random op."""
        # In a graph, the kernel belongs to the function that is traced.
        if op_seed is not None and context.executing_eagerly():
            use.has_own_seed = True
        return original(op_seed)

    seed_before = context._seed
    generator_before = getattr(context, "_rng", None)  # missing before the first random op
    own_generator = None
    state_at_start = None
    if generator_before:  # else an op in the block makes one, which is dropped at the end
        own_generator = random.Random(repr(generator_before.getstate()))
        state_at_start = own_generator.getstate()
        context._rng = own_generator
    try:
        with patched(seeds, get_seed=get_seed), _global_generator_restored(use):
            yield use
    finally:
        generator = getattr(context, "_rng", None)
        is_same = generator is own_generator
        has_moved = own_generator is not None and own_generator.getstate() != state_at_start
        if not is_same or has_moved:
            use.drawn = True
        if generator_before or generator is not None:
            context._seed = seed_before
            context._rng = generator_before


@contextmanager
def _global_generator_restored(use: RandomUse) -> Iterator[None]:
    """Restore the generator of `tf.random.get_global_generator`; note in `use` if it has drawn."""
    module = tensorflow_private.stateful_random_ops
    generator = module.global_generator
    state = None if generator is None else generator_state(generator)
    try:
        yield
    finally:
        if module.global_generator is not generator:
            use.drawn = True
        module.global_generator = generator
        if state is not None and generator_state(generator) != state:
            use.drawn = True
            restore_generator(generator, state)


def generator_state(generator) -> tuple[int, ...] | None:
    """Return the state of a tf.random.Generator; None if it cannot be read, as in a graph."""
    with suppress(Exception):
        return tuple(generator.state.numpy().tolist())
    return None


def restore_generator(generator, state: tuple[int, ...]) -> None:
    """Set the state of a tf.random.Generator to one that was read."""
    generator.state.assign(state)
