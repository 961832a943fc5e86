"""A sample of the made programs: no difference; and what is wrong on purpose is found."""

import pytest

pytestmark = [pytest.mark.own_process(sharing="torch"), pytest.mark.filterwarnings("ignore")]

torch = pytest.importorskip("torch")

from helpers.mini.dynamo import builder, constant_guards  # noqa: E402
from helpers.mini.dynamo.classes import version  # noqa: E402
from tests.mini.dynamo import generated, interrupted  # noqa: E402
from tests.samples import sample  # noqa: E402


def test_no_made_program_differs():
    count = sample(24, 60)
    done = generated.run(count, seed=4)
    assert not done["differences"], done["differences"][0]
    assert done["with a graph"] > 0.4 * count and done["with a hit"] > 0.6 * count


def one_more(module, example_inputs):
    """A backend that is wrong by one in each number."""

    def run(*args):
        results = module.forward(*args)
        return tuple(r + 1 if r.dtype.is_floating_point else r for r in results)

    return run


def test_a_wrong_backend_is_found():
    done = generated.run(12, seed=4, backend=one_more)
    assert done["differences"]


PROGRAM = """
def program(x, y, k, r, xs):
    return x * k + BOX.add(y), math.copysign(1, k.imag), r.stop, BOX.ok
"""
USUAL = ("torch.ones(3)", "torch.ones(3)", "complex(0,0.0)", "range(0,4,2)", "[1]")
CALLS = [
    ("", "", USUAL),
    ("", "", (*USUAL[:2], "complex(0,-0.0)", *USUAL[3:])),
    ("", "", (*USUAL[:3], "range(0,3,2)", "[1]")),
    ("Box.add=make_method(4)", "", USUAL),
    ("Box.add=make_method(5)", "", USUAL),
]


def program_differs():
    """Run this one program: it looks at all that the guards below are about."""
    eager, mini = (generated.World(PROGRAM, label) for label in ("eager", "mini"))
    compiled = generated.dynamo.compile(mini.space["program"])
    words = generated._compared(eager, eager.space["program"], mini, compiled, CALLS)
    assert compiled.graphs
    return words


def test_a_guard_that_is_left_out_is_found(monkeypatch):
    assert program_differs() == ""
    equal = lambda source, value, name: [f"{source} == {name(value, 'it')}"]  # noqa: E731
    monkeypatch.setattr(builder, "exactly", equal)
    assert "complex(0,-0.0)" in program_differs()
    monkeypatch.undo()
    monkeypatch.setattr(constant_guards, "FIELDS", {complex: ("real", "imag")})
    assert "range(0,3,2)" in program_differs()
    monkeypatch.undo()
    kinds = []
    monkeypatch.setattr(
        builder.VariableBuilder, "class_of", lambda self, source, kind: kinds.append(version(kind))
    )
    assert "make_method(4)" in program_differs() and kinds


def test_interrupts_leave_nothing_behind_and_no_wrong_entry():
    found, came = interrupted.faults(sample(20, 100), seed=1)
    assert not found and came > 5
