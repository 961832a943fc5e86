"""What the learner has compiled works after a block of `compiled_apart` as before it.

It does so whatever an answer does in the block. Each program is tried in both kinds of block, and
in one inside the other, as a check runs them.
"""

from contextlib import ExitStack

import pytest

from helpers import watch_breaks
from helpers.internals.compiled_apart import compiled_apart, keep_earlier_code

pytestmark = [pytest.mark.own_process(sharing="torch"), pytest.mark.filterwarnings("ignore")]

BLOCKS = {
    "apart": (compiled_apart,),
    "kept": (keep_earlier_code,),
    "a check's": (keep_earlier_code, compiled_apart),
}


@pytest.fixture(autouse=True)
def nothing_is_compiled_at_first():
    """Empty Dynamo's caches: the cases compile the same code objects."""
    torch = pytest.importorskip("torch")
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


class Learners:
    """A function with a resume function, and a module of torch's, compiled by the learner."""

    def __init__(self):
        import torch

        def scaled(x, factor):
            print(end="")  # a graph break
            return x * factor

        self.graphs, self.scaled = 0, scaled
        self.compiled = torch.compile(scaled, backend=self._backend)
        self.module = torch.compile(torch.nn.Linear(2, 2), backend=self._backend)
        self.call(2)

    def _backend(self, graph, inputs):
        self.graphs += 1
        return graph

    def call(self, *shape):
        import torch

        self.compiled(torch.ones(shape), 3)
        self.module(torch.ones(*shape[:-1], 2))


def _resets(own):
    import torch

    torch._dynamo.reset()


def _compiles_a_disabled_module(own):
    import torch

    class Disabled(torch.nn.Module):
        @torch.compiler.disable
        def forward(self, x):
            return x * 2

    for number in (2, 3, 4):
        torch.compile(Disabled(), backend="eager")(torch.ones(number))


def _compiles_modules(own):
    import torch

    for number in (2, 3):
        torch.compile(torch.nn.Linear(number, 1), backend="eager")(torch.ones(number))


def _resets_and_compiles(own):
    _compiles_modules(own)
    _resets(own)
    _compiles_a_disabled_module(own)


def _looks_at_a_module(own):
    import torch

    watch_breaks(torch.nn.Linear(2, 2), torch.ones(2))


def _looks_at_the_learners(own):
    import torch

    watch_breaks(own.scaled, torch.ones(2), 3)


PROGRAMS = [_resets, _compiles_a_disabled_module, _compiles_modules, _resets_and_compiles]
PROGRAMS += [_looks_at_a_module, _looks_at_the_learners]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__[1:])
@pytest.mark.parametrize("blocks", BLOCKS.values(), ids=BLOCKS)
def test_compiled_code_of_before_runs_and_is_compiled_for_another_shape(blocks, program):
    own = Learners()
    graphs, entries = own.graphs, _entries()
    with ExitStack() as stack:
        for block in blocks:
            stack.enter_context(block())
        program(own)
    now = _entries()
    assert all(made <= now[code] for code, made in entries.items())
    assert now == entries or compiled_apart not in blocks
    own.call(2)
    assert own.graphs == graphs
    own.call(3, 2)  # torch looks at each earlier entry, to say why it compiles again
    assert own.graphs == graphs + 2


def _entries() -> dict:
    """Return code -> the codes that Dynamo made of it, of all codes that it has met."""
    from helpers.internals import dynamo_codes

    found = {code: dynamo_codes.read_cache_entries(code) for code in dynamo_codes.list_met_codes()}
    return {code: {entry.code for entry in made} for code, made in found.items() if made}
