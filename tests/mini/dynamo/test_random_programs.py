"""Programs made by hypothesis, against eager torch: no difference, through both doors."""

import linecache

import pytest

pytestmark = [pytest.mark.own_process(sharing="torch"), pytest.mark.filterwarnings("ignore")]

torch = pytest.importorskip("torch")
hypothesis = pytest.importorskip("hypothesis")

from hypothesis import strategies as st  # noqa: E402

from helpers.mini import frame_hook  # noqa: E402
from tests.mini.dynamo import comparing  # noqa: E402
from tests.mini.dynamo.table import numbers  # noqa: E402
from tests.samples import sample  # noqa: E402

NAMES = st.sampled_from(["x", "y", "z", "w"])
NUMBERS = st.sampled_from(["2", "0.5", "-1", "0", "-0.0", "k", "x.shape[0]", "len(y)"])
VALUES = NAMES | NUMBERS
EXPRESSIONS = st.one_of(
    st.builds("{} {} {}".format, VALUES, st.sampled_from(["+", "-", "*", "/", "<"]), VALUES),
    st.builds("torch.{}({})".format, st.sampled_from(["sin", "relu", "abs", "neg"]), NAMES),
    st.builds("{}.{}()".format, NAMES, st.sampled_from(["sum", "exp", "clone", "view_as_real"])),
    st.builds("{}[{}]".format, NAMES, st.sampled_from(["0", ":2", "-1", "None", "9"])),
    st.builds("torch.where({} > {}, {}, {})".format, NAMES, NUMBERS, NAMES, NAMES),
    st.builds("({} if {} else {})".format, NAMES, st.sampled_from(["k", "x.dim() > 1"]), NAMES),
    st.builds("torch.stack([{}, {}])".format, NAMES, NAMES),
    st.builds("{}.max(0).values".format, NAMES),
)
SIMPLE = st.one_of(
    st.builds("{} = {}".format, NAMES, EXPRESSIONS),
    st.builds("{} {}= {}".format, NAMES, st.sampled_from(["+", "*", "-"]), VALUES),
    st.builds("{}.add_({})".format, NAMES, NUMBERS),
    st.builds("print({})".format, EXPRESSIONS),
    st.builds("{}[0] = {}".format, NAMES, NUMBERS),
    st.builds("{} = {}".format, NAMES, NAMES),
)


def indented(lines):
    return [f"    {line}" for line in lines]


BLOCKS = st.recursive(
    st.builds(lambda line: [line], SIMPLE),
    lambda inner: st.one_of(
        st.builds(
            lambda test, a, b: [f"if {test}:", *indented(a), "else:", *indented(b)],
            st.sampled_from(["x.sum() > 0", "k", "y is z", "len(x) > 2", "w.max() > 1"]),
            inner,
            inner,
        ),
        st.builds(lambda a: ["for i in range(2):", *indented(a)], inner),
        st.builds(lambda a, b: a + b, inner, inner),
    ),
    max_leaves=6,
)


def made(lines):
    source = "\n".join(["def program(x, y, k):", "    z, w = x, y", *indented(lines)])
    source += "\n    return x, y, z, w, z is w, [x, z]\n"
    space = {"torch": torch}
    exec(compile(source, "<program>", "exec"), space)
    linecache.cache["<program>"] = len(source), None, source.splitlines(True), "<program>"
    return space["program"], source


@hypothesis.settings(max_examples=sample(10, 100), deadline=None, derandomize=True, database=None)
@hypothesis.given(BLOCKS)
def test_no_made_program_differs(lines):
    program, source = made(lines)
    shared = numbers(3)
    cases = (
        (numbers(3), numbers(3, start=0.5), 2),
        (numbers(3).requires_grad_(), numbers(3), 0),
        (shared, shared, 1.5),
        (shared, shared[1:], -0.0),
        (numbers(2, 3), numbers(3), True),
    )
    for door in ["decorator"] + ["hook"] * bool(frame_hook.available()):
        found = comparing.differences(program, cases, comparing.DOORS[door])
        assert not found, f"{source}\n{found[0]}"
