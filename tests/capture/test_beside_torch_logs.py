"""The exhibits tell what torch's own logs, guards and profiler tell of the same runs."""

import logging
import re
from collections import Counter

import pytest

from helpers import show_guards, watch_breaks, watch_ops, watch_recompiles
from helpers.capture.torch.dynamo_run import find_compilable

torch = pytest.importorskip("torch")
from tests.capture import dynamo_models as models  # noqa: E402

pytestmark = [pytest.mark.own_process(sharing="torch"), pytest.mark.filterwarnings("ignore")]


def logged(artifact, run):
    """Return the messages of one artifact of TORCH_LOGS in a run."""
    found, handler = [], logging.Handler()
    handler.emit = lambda record: found.append(record.getMessage())
    torch._logging.set_logs(**{artifact: True})
    names = [n for n in logging.root.manager.loggerDict if n.endswith(f"__{artifact}")]
    with pytest.MonkeyPatch.context() as patch:
        for logger in map(logging.getLogger, names):
            patch.setattr(logger, "handlers", [handler])
            patch.setattr(logger, "propagate", False)
        run()
    torch._logging.set_logs()
    return found


@pytest.mark.parametrize("name", ["SGD", "Adam", "BERT", "forward in forward"])
def test_breaks_are_those_of_torch_logs_with_the_innermost_frame(name):
    fn, args = models.made(name)
    torch._dynamo.reset()
    compiled = torch.compile(find_compilable(fn, "").call, backend="eager")
    told = logged("graph_breaks", lambda: compiled(*args))
    model = watch_breaks(fn, *args).model
    assert model.breaks == len(told) and f"{len(told) or 'No'} graph break" in model.note
    for row, message in zip(model.rows, told, strict=True):
        path, line = re.search(r"in user code at (.+):(\d+)\n", message).groups()
        assert row.place.endswith(f"({path.rpartition('/')[2]}:{line})")
        assert row.page == re.search(r"please visit: (\S+)", message)[1]
        for hint in re.findall(r"Hint: (.+)", message):
            assert hint in row.hint
        assert row.hint in model.note and row.page in model.note


def flags(x, n=1, mode="a", more=None):
    y = x * n
    return y if mode == "a" else y + len(more or ())


X = torch.ones(3)
CALLS = {
    "flags": (flags, [(X,), (X, 2), (X, 3.5), (X, 1, "b"), (X, 1, "b", {"k": 1}), (X.double(),),
                      (X[None],), (X.clone().requires_grad_(),)]),
    "called": (models.talks, [(X, "a"), (X, "bb"), (X, "ccc"), (X.double(), "a")]),
    "Adam": (models.training_step(torch.optim.Adam), models.batches()),
    "BERT": (models.bert(), [(torch.ones(size, dtype=torch.long),)
                             for size in ((2, 7), (1, 7), (2, 9), (3, 5))]),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_every_reason_that_torch_logs_is_in_the_exhibit(name):
    fn, calls = CALLS[name]
    torch._dynamo.reset()
    live, reasons = watch_recompiles(fn), 0
    for args in calls:
        told = logged("recompiles", lambda args=args: live(*args))
        row = live.model.entries[-1]
        assert row.verdict == "recompile" or not told
        for reason in re.findall(r"- \d+/\d+: (.+)", "\n".join(told)):
            reasons += 1
            assert all(words in row.note for words in said(reason)), (reason, row.note)
    assert reasons >= len(calls) - 3


def said(reason: str) -> tuple[str, ...]:
    """Return what a reason of torch's says: of what, what about it, and the line it is for."""
    check, *remarks = (part.strip() for part in reason.split("  # "))
    if found := re.match(r"tensor '(.+?)' (.+)", check):
        return found.groups()
    line = remarks[0] if len(remarks) > 1 else ""
    if found := re.match(r"___check_type_id\((.+?), \d+\), type=<class '(\w+)'>", check):
        return *found.groups(), line
    return *re.fullmatch(r"(?:len\()?(.+?)\)? (?:==|is) (.+)", check).groups(), line


@pytest.mark.parametrize("name", ["BERT", "residual", "super"])
def test_guards_are_those_of_torch_logs(name):
    fn, args = models.made(name)
    compiled = torch.compile(find_compilable(fn, "").call, backend="eager")
    torch._dynamo.reset()
    text = "\n".join(logged("guards", lambda: compiled(*args)))
    torch_kinds = Counter(re.findall(r"\+- ([A-Z_]+): ", text.partition("TREE_GUARD")[2]))
    model = show_guards(compiled).model
    ours = Counter(guard.kind for guard in model.guards)
    between = ours.pop("OBJECT_ALIASING", 0) + ours.pop("SHAPE_ENV", 0) + ours["LAMBDA_GUARD"]
    assert between == torch_kinds["LAMBDA_GUARD"]
    assert set(ours) == set(torch_kinds)
    once = "DIMENSION_DYNAMIC_MARKING_GUARD", "LAMBDA_GUARD"  # one for each mark of a tensor
    assert all(ours[kind] == torch_kinds[kind] for kind in ours if kind not in once)
    if len(model.guards) > 60:
        assert f"TENSOR_MATCH {ours['TENSOR_MATCH']}" in model.note


@pytest.mark.parametrize("name", ["BERT", "residual", "super", "SGD"])
def test_ops_are_those_of_the_profiler(name):
    fn, args = models.made(name)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        fn(*args)
    profiled = Counter(e.name for e in profile.events() if e.name.startswith("aten::"))
    fn, args = models.made(name)
    ours = Counter(row.op.replace("aten.", "aten::") for row in watch_ops(fn, *args).model.rows)
    # what saves its result for the backward pass detaches it, where the ops are watched
    assert ours and set(ours - profiled) <= {"aten::detach"}
