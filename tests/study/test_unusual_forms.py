"""A right answer passes in a form that nobody has in mind: another type, another way of writing."""

import pytest

from tests.study.folded import EXERCISES, verdict
from tests.study.mistakes.chapter_4 import EAFP

pytestmark = pytest.mark.own_process(by="chapter", sharing="judges")

TEXTS = """
import enum


class Text(str, enum.Enum):
    OLD, NEW = "old", "new"


"""
DECORATED = """
def logged(method):
    def inner(*given):
        return method(*given)

    return inner


"""
ONE_OF_ANOTHER = """        self.BUILD_LIST(count)
        self.push(tuple(self.pop()))"""
TUPLE = "        self.push(tuple([self.pop() for _ in range(count)][::-1]))"


IMPORTING = "from importlib import import_module\n"
IMPORTS = '    import_module("numpy")  # which is there already\n'
ONE_OP = "if func is torch.ops.aten.abs.default:  # softsign itself is no op"
THREE_OPS = """if func is torch.ops.aten.abs.default:
            self.size = True
        if func is torch.ops.aten.div.Tensor and vars(self).pop("size", False):"""
COMPILED = "import torch\n\n\n@torch.compile(fullgraph=True, backend='eager')\n"
FACTOR = "min(1.0, model.calls / 10)"  # a float: the second one makes it a symbol
TENSOR = "    count = torch.zeros(())\n\n    @compile"
COUNTED = "y * warm", "y * torch.clamp(count.add_(1) / 10, max=1.0)"
ONE_BY_ONE = """
for kind in ("float16", "float32", "float64"):
    register(halve, dtype == kind)
"""
WEIGHTS = "torch.exp(ctx.scale * (x - y[..., None]))", "torch.softmax(ctx.scale * x, -1)"
WITHOUT = "ctx.save_for_backward(x, output)", "ctx.save_for_backward(x.clone(), output.clone())"
HIT = """proof = watch_recompiles(gained.forward)
for gain in ("1", "10"):
    with patch.dict(os.environ, CLINIC_GAIN=gain):
        proof(x)"""
PLACED = """cured = {"readings.Windows.place": lambda self, part: torch.tensor(part)}"""
BY_COURSE = """

@contextmanager
def cured(project, new):
    project.totals.area.cache_clear()
    old = project.ops.scale
    kept = ["report.baseline"] * (project.report.baseline is old)
    try:
        with rebind_everywhere(old, new, keep=kept):
            yield
    finally:
        project.totals.area.cache_clear()
"""
CELL = ("cell.cell_contents = new", "logs.scale = logs.TABLE['logged'] = logs.logged(new)")
KEEP = (
    "area, cell = project.totals.area,",
    "wrapper = logs.scale\n    area, cell = project.totals.area,",
)
BACK = ("cell.cell_contents = old", "logs.scale = logs.TABLE['logged'] = wrapper")
FORMS = [
    ("who_kept", lambda s: s.partition("\n\n@")[0] + BY_COURSE),
    ("who_kept", lambda s: s.replace(*CELL).replace(*KEEP).replace(*BACK)),
    ("dead_switch", lambda s: s.replace("proof = show_guards(gained.forward)", HIT)),
    ("blind_tool", lambda s: s.replace('"evaluator"', '"frame"')),
    ("missing_op", lambda s: s.replace('"registry"', '"name"')),
    ("three_suspects", lambda s: s.replace('cured = {"weather.evaluate": evaluate}', PLACED)),
    ("kept_models", lambda s: s.replace("error.with_traceback(None)", "type(error)(*error.args)")),
    (
        "cache_mutation",
        lambda s: s.replace("raise ValueError", "raise type('Own', (ValueError,), {})"),
    ),
    ("cache_lookup", lambda s: s.replace("return form, leaves", "return [form, (*leaves,)]")),
    ("break_surgery", lambda s: COMPILED + s),
    ("break_surgery", lambda s: s.replace("torch.where(y > 0, y, 0)", "torch.relu(y)")),
    ("one_compile", lambda s: s.replace("@compile", "@compile(dynamic=True)")),
    ("one_compile", lambda s: s.replace("torch.tensor(min(1.0, model.calls / 10))", FACTOR)),
    ("one_compile", lambda s: s.replace("    @compile", TENSOR).replace(*COUNTED)),
    ("dynamo_binary_op", lambda s: EAFP),
    ("two_kernels", lambda s: s.replace("register(halve, is_float)", ONE_BY_ONE)),
    ("smooth_max", lambda s: s.replace(*WEIGHTS).replace(*WITHOUT)),
    ("smooth_max", lambda s: f"{s}\nsmooth_max = torch.ops.exercise5.smooth_max"),
    ("tangle", lambda s: TEXTS + s.replace('"old"', "Text.OLD").replace('"new"', "Text.NEW")),
    ("rebinding", lambda s: IMPORTING + s.replace("    try:\n", f"{IMPORTS}    try:\n")),
    (
        "tangle",
        lambda s: f"{s}\nimport numpy as np\nguess = dict(zip(guess, np.array([*guess.values()])))",
    ),
    ("vm_jumps", lambda s: DECORATED + s.replace("    def ", "    @logged\n    def ")),
    ("vm_calls", lambda s: s.replace(TUPLE, ONE_OF_ANOTHER)),
    ("route", lambda s: s.replace('"graph"', '"graph x2"')),
    ("op_logger", lambda s: s.replace("log = []", "log = __import__('collections').UserList()")),
    ("kept_models", lambda s: s.replace('"name", "frame"', '("frame", "cache key")')),
    ("five_means", lambda s: s.replace(ONE_OP, THREE_OPS)),
]
NAMED = [(EXERCISES[name].chapter, name, form) for name, form in FORMS]


@pytest.mark.parametrize(("chapter", "name", "form"), NAMED)
def test_it_passes_in_this_form_too(chapter, name, form):
    solution = EXERCISES[name].solution
    answer = form(solution)
    assert answer != solution
    outcome = verdict(name, answer)
    assert outcome.state == "passed", outcome.because
