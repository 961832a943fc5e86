"""Guard sets of one function -> the calls that one accepts and another refuses; one as Python.

A guard set is a function of the arguments; the real one is what Dynamo compiled for a first call.
The calls tried are its neighbours: each differs from it in one thing that a guard could look at.
As Python: torch's text beside a guard often says less than C++ checks (`L['n'] == 2` asks for the
type as well; torch/csrc/dynamo/guards.cpp). Where it may, a line asks torch's live guard instead.
"""

import ast
import builtins
import inspect
import math
import re
import warnings
from collections import namedtuple
from collections.abc import Callable
from contextlib import contextmanager, nullcontext
from functools import partial
from itertools import combinations, islice
from types import FunctionType

from ...internals import torch_private
from ...internals.dynamo_state import apart
from ...mini.frame_hook import guarded
from ...model import torch_records as records
from ...model.phrase import clipped, interrupted
from ...model.tables import Entry, Ledger, Verdict
from ...safety.arguments import is_exactly, real_isinstance, require_int, table
from ...safety.restoring import note_end, note_interrupt, running_user_code
from ..cpython.objects import named, names_used
from ..text.error import error_message
from ..text.value import label
from . import guard_tree as tree
from .dynamo_run import same_random_numbers

MARKS = (("refused", "this one refuses the call"), ("failed", "an error instead of an answer"))
MOST_ROWS, SHORT = 12, 40
MOST_SETS = 100  # of guards, to compare
LONGEST = 400
SOURCE = re.compile(r"\b([LG])\['(\w+)'\]")
IDENTITY = re.compile(r"___check_(obj|type)_id\(.*, (\d+)\)(?:, type=.*)?", re.DOTALL)
LENGTH = r"len\(.*\) == (\d+)"  # for a length of none, torch writes `not x`
CLASS_TEXT = re.compile(r"type=<class '(\w+)'>")
MARK = re.compile(r"hasattr\((.*), '(\w+)'\) == False", re.DOTALL)
PLAIN_TENSORS = {"Tensor": "torch.Tensor", "Parameter": "torch.nn.Parameter"}
OURS = {"G", "ids", "in_cpp", "keys", "marks", "seen", "torch", "type", "len", "id"}
OURS |= {"any", "hasattr", "locals", "Exception"}

TONES = {"accepts": "plain", "refuses": "refused", "raises": "failed"}


# One call: `words` say what is changed; `arguments` by name; `world()` is on while it runs.
Call = namedtuple("Call", "words arguments world", defaults=(nullcontext,))


class Real:
    """What Dynamo compiles for one call of a function: code, and the guards that it runs behind."""

    def __init__(self, fn, *args, **kwargs):
        self.function = tree.copied(tree.behind(fn)[0])
        self.first = tree.first_call(self.function, args, kwargs)
        self.compiled, self.start = tree.compile_copy(self.function, backend="eager")
        with guarded(), torch_private.own_sizes(self.start.__code__, {}):
            _run(self.compiled, args, kwargs, f"the first call of {named(self.function)}()")
        kept = tree.entries(self.start.__code__)
        if len(kept) != 1:
            raise LookupError(f"Dynamo compiles nothing for this call of {named(self.function)}()")
        self.entry = kept[0]

    def __call__(self, /, *args, **kwargs) -> bool:
        """Return whether the guards hold for these arguments."""
        return self.why_not(*args, **kwargs) is None

    def why_not(self, /, *args, **kwargs):
        """Return the first guard that these arguments fail, or None."""
        return tree.failure(1, self.entry, self.start, self.seen(*args, **kwargs))

    def seen(self, /, *args, **kwargs) -> dict:
        """Return the locals that the guards are asked about."""
        if self.start is self.function:
            return tree.frame_locals(self.function, args, kwargs)
        signature = inspect.signature(self.function, follow_wrapped=False)
        bound = signature.bind(*args, **kwargs)  # torch's wrapper has no names for arguments
        return tree.frame_locals(self.start, bound.args, bound.kwargs)


class Mini:
    """What the mini-Dynamo compiles for one call, asked about its guards in the same way."""

    def __init__(self, fn, *args, **kwargs):
        from ...mini import dynamo

        self.compiled = dynamo.compile(tree.copied(tree.behind(fn)[0]))
        _run(self.compiled, args, kwargs, "the first call, compiled by the mini-Dynamo,")
        if because := self.compiled.why or "; ".join(self.compiled.breaks):
            raise LookupError(f"the mini-Dynamo has no single guard set for this call: {because}")

    def why_not(self, /, *args, **kwargs):
        """Return the text of the first guard that these arguments fail, or None."""
        values = tree.first_call(self.compiled.fn, args, kwargs).values()
        failed = self.compiled.entries[0].first_failing(tuple(values))
        return None if failed is None else f"not {failed.text}"


def _run(fn, args, kwargs, words: str) -> None:
    """Make the first call; ValueError, in one sentence, if it does not come to its end."""
    try:
        with running_user_code():
            fn(*args, **kwargs)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise ValueError(f"{words} must succeed, and it raised {error_message(error)}") from None


def agreement(fn, args: tuple, kwargs: dict, guard_sets=None) -> Ledger:
    """Search calls close to `fn(*args, **kwargs)` on which two guard sets differ."""
    guard_sets = _named_guard_sets(guard_sets)
    torch_private.needed("dynamo", "cache")
    supplied = _names_supplied(fn)
    fn, (args, kwargs) = tree.behind(fn)[0], tree.given(fn, args, kwargs)
    calls, name, answers = _answers_of_compilers(
        fn, args, kwargs, supplied, with_mini=not guard_sets
    )
    heads, rows, asked, stopped = (*(guard_sets or ["mini"]), "Dynamo"), [], 0, ""
    for call, known in zip(calls, answers, strict=True):
        try:
            with call.world():
                asked_for = {k: v for k, v in call.arguments.items() if k not in supplied}
                told = [_ask(accepts, asked_for) for accepts in guard_sets.values()]
        except KeyboardInterrupt as error:
            if not asked:
                raise
            note_interrupt(error)
            stopped = interrupted(asked, "call")
            break
        asked, told = asked + 1, [*told, *known]
        if len({word for word, _ in told}) > 1:
            verdicts = tuple(Verdict(word, TONES[word]) for word, _ in told)
            named_notes = zip(heads, told, strict=True)
            note = "; ".join(f"{head}: {note}" for head, (_, note) in named_notes if note)
            rows.append(Entry(call.words, verdicts, note))
    note = f"On {asked - len(rows)} of {asked} calls, all agree."
    note = f"{stopped} {note}".lstrip()
    if len(rows) > MOST_ROWS:
        note += f" The first {MOST_ROWS} of {len(rows)} counter-examples."
    title = f"Calls of {name} that one set of guards accepts and another refuses"
    return Ledger(title, "call", heads, tuple(rows[:MOST_ROWS]), note, marks=MARKS)


def _named_guard_sets(guard_sets) -> dict[str, Callable]:
    """Return the guard sets by name; TypeError if they are not a dict of functions."""
    if guard_sets is None:
        return {}
    named = table(guard_sets, "guard_sets=", "name -> function of the arguments", MOST_SETS)
    for name, accepts in named:
        if not callable(accepts):
            raise TypeError(f"{name} must be a function of the arguments, not {label(accepts)}")
    return dict(named)


def _names_supplied(fn) -> set[str]:
    """Return the names of arguments that a call of `fn` does not give: `self`, a partial's."""
    supplied, by_name = tree.given(fn, (), {})
    parameters = inspect.signature(tree.behind(fn)[0], follow_wrapped=False).parameters
    return {*[*parameters][: len(supplied)], *by_name}


def _answers_of_compilers(
    fn, args, kwargs, supplied: set[str], with_mini: bool
) -> tuple[list[Call], str, list[list]]:
    """Return the calls to try, the function's name, and what the compilers' guards say of each.

    `supplied`: the names of arguments that no call changes. Each compiler calls the function.
    Random numbers, Dynamo's counts and its cache are set back.
    """
    set_back = same_random_numbers()
    try:
        with apart(), torch_private.logs(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compilers = [Real(fn, *args, **kwargs)]
            if with_mini:
                compilers.insert(0, Mini(fn, *args, **kwargs))
            real, answers = compilers[-1], []
            calls = [
                call
                for call in neighbours(real.function, real.first)
                if all(call.arguments[name] is real.first[name] for name in supplied)
            ]
            for call in calls:
                with call.world():
                    answers.append([_ask(accepts, call.arguments) for accepts in compilers])
            return calls, named(real.function), answers
    finally:
        set_back()


def _ask(accepts, arguments: dict) -> tuple[str, str]:
    """Return a verdict of a guard set, and a note."""
    try:
        if real_isinstance(accepts, Real, Mini):
            because = accepts.why_not(**arguments)
            return ("accepts", "") if because is None else ("refuses", str(because))
        return ("accepts" if accepts(**arguments) else "refuses"), ""
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # SystemExit as well: it is an answer like any other
        note_end(error)
        return "raises", error_message(error)


def neighbours(fn, first: dict) -> list[Call]:
    """Return the same call again, and every call with one change. `first`: arguments by name."""
    import torch

    calls = [Call("the same again", dict(first))]
    for name, value in first.items():
        calls += [Call(f"{name} {words}", {**first, name: v}) for words, v in _change(value)]
    for (name, value), (later, other) in combinations(first.items(), 2):
        tensors = type(value) is type(other) is torch.Tensor and value is not other
        if tensors and (value.shape, value.dtype) == (other.shape, other.dtype):
            calls.append(Call(f"{later} is {name}", {**first, later: value}))
    for name in sorted(names_used(fn.__code__)):
        for words, other in islice(_other_scalars(fn.__globals__.get(name)), 1):
            world = partial(replacing, fn.__globals__, name, other)
            calls.append(Call(f"global {name} {words}", dict(first), world))
    return [*calls, Call("under torch.no_grad()", dict(first), torch.no_grad)]


def _change(value):
    """Yield (words, another value) for one argument, as far as another one can be made."""
    import torch

    if is_exactly(value, list, tuple):
        other = tuple if type(value) is list else list
        yield "one longer", type(value)([*value, *(value[-1:] or [0])])
        if value:
            yield "one shorter", value[:-1]
        yield f"as a {other.__name__}", other(value)
    elif type(value) not in (torch.Tensor, torch.nn.Parameter):
        yield from _other_scalars(value)
    elif value.layout is torch.strided:
        yield from _other_tensors(value.detach())


def _other_tensors(plain):
    import torch

    yield "with other numbers", plain + 1
    yield "of float64", plain.double()
    if plain.dim():
        yield "one longer", torch.cat([plain, plain[:1]])
        yield "of length 1", plain[:1].clone()
        yield "of another stride", plain.repeat_interleave(2, 0)[::2]
    yield "with one more dimension", plain.unsqueeze(0).clone()
    if plain.is_floating_point():
        yield "that requires a gradient", plain.clone().requires_grad_()
        yield "a Parameter", torch.nn.Parameter(plain.clone())


def _other_scalars(value):
    others = ()
    if type(value) is bool:
        others = (not value,)
    elif type(value) is int and abs(value) < 2**1000:
        others = (value + 1, 0, 1, -value, float(value))
    elif type(value) is float and math.isfinite(value):
        others = (value + 1, -value, math.nan, int(value))
    elif type(value) is str:
        others = (f"{value}s", "")
    by_words = {repr(other): other for other in others}  # 1, 1.0 and True are equal
    for words, other in by_words.items():
        if words != repr(value):
            yield f"= {clipped(words, SHORT)}", other


@contextmanager
def replacing(space: dict, name: str, other):
    """Give a name of a namespace another value in a block."""
    before = space[name]
    space[name] = other
    try:
        yield
    finally:
        space[name] = before


# ------------------------------------------------------------------ one as a Python function


def guard_function(fn, entry: int = 1) -> FunctionType:
    """Return the guards of one cache entry of `fn` as a Python function of the same arguments."""
    written = WrittenGuards(fn, entry)
    function, name = written.function, written.behind.__name__
    function.__name__ = function.__qualname__ = name  # which an error of a call begins with
    supplied, by_name = tree.given(fn, (), {})
    if not supplied and not by_name:
        return function

    def holds(*args, **kwargs):
        args, kwargs = tree.given(fn, args, kwargs)
        return function(*args, **kwargs)

    holds.__signature__ = inspect.signature(partial(function, *supplied, **by_name))
    holds.__name__ = holds.__qualname__ = name
    return holds


def guard_program(fn, call, entry: int = 1) -> records.GuardProgram:
    """Return the same function as text, a row per guard, and which row refuses a call."""
    written = WrittenGuards(fn, entry)
    if not real_isinstance(call, tuple, list, dict):
        words = "call is a tuple of arguments, or a dict of them by name, not"
        raise TypeError(f"{words} {label(call)}")
    by_name = real_isinstance(call, dict)
    args, kwargs = tree.given(fn, () if by_name else tuple(call), dict(call) if by_name else {})
    seen, rows, word = tree.frame_locals(written.behind, args, kwargs), [], "holds"
    for line, kind, own in written.lines:
        word = word if word == "holds" else "not checked"
        if word == "holds":
            try:
                holds = eval(line, written.space | seen, dict(seen))
            except Exception:
                holds = False
            word = "holds" if holds else "refuses"
        who = "Python" if own else "C++"
        rows.append(records.GuardLine(clipped(line, LONGEST), kind, who, word))
    accepts, asked = (
        written.root.check_verbose(seen).result,
        sum(row.written != "Python" for row in rows),
    )
    note = (
        f"{len(rows) - asked} of {len(rows)} are Python, {asked} call torch's guard in C++. "
        f"torch's own tree {'accepts' if accepts else 'refuses'} this call."
    )
    title = f"The guards of {named(written.behind)}(), entry {entry}, as Python"
    note, holds = " ".join((note, *written.told)), written.function(*args, **kwargs)
    listing = title, records.LINE_COLUMNS, tuple(rows), note
    return records.GuardProgram(*listing, written.source, holds, accepts)


class WrittenGuards:
    """The guards of an entry, as Python: `function` and its `source`, which asks the `lines`."""

    def __init__(self, fn, entry: int = 1):
        import torch

        self.behind, self.told = tree.behind(fn, compiled=True)
        if not (kept := tree.entries(self.behind.__code__)):
            raise LookupError(f"Dynamo keeps no compiled code for {named(self.behind)}()")
        self.entry = kept[require_int(entry, "entry", len(kept)) - 1]
        self.root = self.entry.guard_manager.root
        self.parameters = inspect.signature(self.behind, follow_wrapped=False).parameters
        if taken := OURS & self.parameters.keys():
            words = f"the guards of {named(self.behind)}() are not shown as Python: {min(taken)} is"
            raise ValueError(f"{words} a name that they use; rename the argument")
        self.space = {**torch_private.guard_names(), "torch": torch, "builtins": vars(builtins)}
        self.space |= {"G": self.behind.__globals__, "ids": [], "in_cpp": {}}
        self.space["keys"] = torch_private.keys_now
        self.space["seen"] = lambda arguments: arguments | tree.closure_values(self.behind)
        self.lines = tuple(dict.fromkeys(self._lines()))
        self.source, space = self._source(), dict(self.space)
        exec(compile(self.source, "<guards>", "exec"), space)
        self.function = space["holds"]
        self.function.__defaults__ = self.behind.__defaults__
        self.function.__kwdefaults__ = self.behind.__kwdefaults__

    def _lines(self):
        """Yield (expression, kind of guard, whether it is Python of its own) of every guard."""
        if any(hasattr(manager, "get_key_value_managers") for manager in tree.managers(self.root)):
            # Only C++ keeps the size of a dict, and it cannot be read on its own.
            yield self._ask_cpp("DICT_SIZE", self.root.check, "L"), "DICT_SIZE", False
        for leaf in tree.leaves(self.entry):
            try:
                text, own = tree.check_of(leaf.parts[0]), True
                found = self._write(leaf.kind, text, leaf)
            except Exception:  # not a kind, or not a text, that is known to say it all
                found, own = [self._ask_cpp(leaf.kind, leaf.check, leaf.source)], False
            yield from ((part, leaf.kind, own) for part in found)

    def _ask_cpp(self, kind: str, check, source: str) -> str:
        """Return an expression that calls torch's own guard for the value at a source."""
        value = "seen(locals())"
        try:
            value = value if source in ("L", tree.BETWEEN) else self.rewrite(source)
        except (LookupError, SyntaxError):  # what it looks at has no name in Python
            check = self.root.check
        if kind == "NO_TENSOR_ALIASING":  # it has a state of its own
            value, check = "seen(locals())", self.root.check
        while self.space["in_cpp"].setdefault(kind, check) != check:
            kind += "_"
        return f"in_cpp[{kind!r}]({value})"

    def rewrite(self, source: str) -> str:
        """Return an expression of torch's in the names of the function; LookupError if none."""
        parsed = ast.parse(SOURCE.sub(self._rename, source.strip()), mode="eval")
        names = {node.id for node in ast.walk(parsed) if isinstance(node, ast.Name)}
        if names - self.space.keys() - self.parameters.keys() - vars(builtins).keys():
            raise LookupError(source)
        return ast.unparse(parsed)

    def _rename(self, found: re.Match) -> str:
        space, name = found.groups()
        if space == "G":
            return "builtins" if name.startswith("__builtins_dict__") else found[0]
        return name if name in self.parameters else "no_name"

    def _say(self, value: str, kind: str, number: int) -> str:
        """Return a check of an id, by a built-in type's name, or in a list, as ids differ."""
        known, ids = getattr(builtins, kind, None), self.space["ids"]
        if known and number == id(known) and kind not in self.parameters:
            return f"{value} is {kind}"
        if number not in ids:
            ids.append(number)
        return f"id({value}) == ids[{ids.index(number)}]"

    def _write(self, kind: str, text: str, leaf) -> list[str]:
        """Return a guard as expressions. What they cannot say is raised: then C++ is asked."""
        if kind == "DEFAULT_DEVICE":
            return [self.rewrite(text)]
        value = self.rewrite(leaf.source)
        if kind in ("TRUE_MATCH", "FALSE_MATCH", "NONE_MATCH"):
            return [f"{value} is {kind.partition('_')[0].capitalize()}"]
        if kind == "LENGTH_CHECK":
            return [f"len({value}) == {re.fullmatch(LENGTH, text)[1]}"]
        if kind == "EQUALS_MATCH":  # C++ asks for the type as well
            constant = ast.literal_eval(text.partition(" == ")[2])
            if not leaf.check(constant):
                raise ValueError
            known = type(constant)
            types = self._say(f"type({value})", known.__name__, id(known))
            return [types, f"{value} == {constant!r}"]
        if kind in ("TYPE_MATCH", "ID_MATCH"):
            asked, number = IDENTITY.fullmatch(text).groups()
            if asked == "obj":
                return [self._say(value, "", int(number))]
            told = CLASS_TEXT.search(text)
            return [self._say(f"type({value})", told[1] if told else "", int(number))]
        if kind == "DIMENSION_DYNAMIC_MARKING_GUARD":  # none of the marks is there
            found = [MARK.fullmatch(tree.check_of(part)).groups() for part in leaf.parts]
            sources, marks = zip(*found, strict=True)
            if {*sources} != {leaf.source} or self.space.setdefault("marks", marks) != marks:
                raise ValueError
            return [f"not any(hasattr({value}, mark) for mark in marks)"]
        kind, dtype, grad, size, stride = tree.TENSOR.match(text).groups()  # or it is another kind
        keys, device = re.search(r"DispatchKeySet\((.*?)\), .*?device=(\w+)", text).groups()
        if "None" in size + stride:
            raise ValueError("a size that may vary; only C++ knows which")
        return [
            f"type({value}) is {PLAIN_TENSORS[kind]}",
            f"keys({value}) == {keys!r}",
            f"{value}.dtype == torch.{dtype}",
            f"{value}.device.index {'is' if device == 'None' else '=='} {device}",
            f"{value}.requires_grad is {grad}",
            f"{value}.shape == {ast.literal_eval(f'({size},)' if size else '()')}",
            f"{value}.stride() == {ast.literal_eval(f'({stride},)' if stride else '()')}",
        ]

    def _source(self) -> str:
        no = inspect.Parameter.empty
        shown = [  # the function itself has the defaults
            one.replace(annotation=no, default=no if one.default is no else ...)
            for one in self.parameters.values()
        ]
        asked = {True: "", False: ", checked in C++"}
        checks = [f"{line}  # {kind}{asked[own]}" for line, kind, own in self.lines]
        body = "\n            and ".join(checks) or "True"
        return (
            f"def holds{inspect.Signature(shown)}:\n    try:\n        return (\n"
            f"            {body}\n        )\n    except Exception:\n"
            "        return False  # a missing value fails\n"
        )
