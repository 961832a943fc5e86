"""Chapter 1, exercise 3: rebind a function in the names of all modules."""

import sys
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from types import MethodType, ModuleType, SimpleNamespace

from helpers.capture.cpython.objects import read_namespace
from helpers.capture.text.value import short_repr
from helpers.safety.restoring import patched
from helpers.study.answers import InvalidAnswer, NotAttempted, require_attempt
from helpers.study.check import exercise
from helpers.study.engine import JudgedCase, find_difference
from helpers.study.observations import Raised
from helpers.study.sentences import where_raised

INSIDE = "inside the block"
AFTER = "after the block"
INNER = "item [0] of a list, which is not a module,"
ROLES = ("twin", "op", "other", "first", "second", "third")  # of the functions in the scenery
NAMES = ("op", "_op", "late", "table")  # in each module of the scenery


@contextmanager
def _rebind_everywhere(old, new):
    """Do what a right answer does: write to each name of a module that leads to `old`."""
    places = []
    for module in sys.modules.values():
        if not _is_holder(module, old):
            continue
        for name, value in read_namespace(module).items():
            if value is old:
                places.append((module, name))
    try:
        for module, name in places:
            setattr(module, name, new)
        yield
    finally:
        for module, name in places:
            setattr(module, name, old)


def _is_holder(module, op) -> bool:
    """Return whether it is a module one of whose names leads to the function."""
    if not isinstance(module, ModuleType):
        return False
    return any(value is op for value in read_namespace(module).values())


def _make_function(name: str):
    def function(*args, **kwargs):
        return name

    function.__name__ = name
    function.__module__ = "scenery"
    return function


def _make_module(names: dict) -> ModuleType:
    module = ModuleType("scenery")
    vars(module).update(names)
    return module


class _Scenery:
    """A function to rebind, and modules with it. `other` and `twin` are equal, not identical.

    `modules` stands in the place of `sys.modules`; `watched` are those whose names are compared.
    """

    def __init__(self, op):
        owner = object()
        function = _make_function("other")
        self.op = op
        self.other = MethodType(function, owner)
        self.twin = MethodType(function, owner)
        self.first = _make_function("first")
        self.second = _make_function("second")
        self.third = _make_function("third")
        self.inner = [self.op]
        own_modules = self._make_own_modules()
        copies = self._copy_modules()
        self.modules = {
            **copies,
            **own_modules,
            "scenery": own_modules["scenery1"],
            "scenery.nothing": None,
            "scenery.none": object(),
        }
        holders = {name: module for name, module in copies.items() if _is_holder(module, op)}
        self.watched = {**own_modules, **holders}

    def _make_own_modules(self) -> dict[str, ModuleType]:
        rows = (
            (self.first, self.op, self.twin, self.op),
            (self.first, 5, self.other),
            (),
            (self.op, self.inner, self.other, self.twin),
        )
        modules = {}
        for number, values in enumerate(rows, 1):
            names = dict(zip(NAMES, values, strict=False))
            modules[f"scenery{number}"] = _make_module(names)
        return modules

    def _copy_modules(self) -> dict[str, object]:
        """Return `sys.modules` with copies of all modules. The function is in `__main__`, too."""
        copies = dict(sys.modules)
        for name, module in sys.modules.items():
            if isinstance(module, ModuleType):
                copies[name] = _make_module(read_namespace(module))
        read_namespace(copies["__main__"])["scenery_op"] = self.op
        if "psutil" in copies:  # the time limit looks psutil up by this name
            copies["psutil"] = SimpleNamespace(**read_namespace(copies["psutil"]))
        return copies

    def look(self) -> dict[str, str]:
        """Return the role of the function to which each name leads now; "" for anything else."""
        roles_by_id = {id(getattr(self, role)): role for role in ROLES}
        roles = {INNER: roles_by_id.get(id(self.inner[0]), "")}
        for path, module in self.watched.items():
            for name, value in read_namespace(module).items():
                roles[f"{path}.{name}"] = roles_by_id.get(id(value), "")
        return roles


@dataclass(frozen=True)
class Moment:
    """What the names lead to at one moment of a trial."""

    #: The moment, in words.
    when: str
    #: Name -> the role of its function, or the error that ended the trial.
    roles: dict[str, str] | Raised


def _run_on_copies(op, rebind) -> list[Moment]:
    """Return what each module's names led to at each moment, while a learner's function runs."""
    scenery = _Scenery(op)
    moments = []
    try:
        with patched(sys, modules=scenery.modules):
            _RebindingTrials(rebind, scenery, moments).run()
    except (NotAttempted, InvalidAnswer):
        raise
    except Exception as error:
        moments.append(Moment("", Raised(type(error), error)))
    return moments


class _RebindingTrials:
    """Blocks of a learner's function, one after another, with a note of each moment."""

    def __init__(self, rebind: Callable, scenery: _Scenery, moments: list[Moment]):
        self.rebind = rebind
        self.scenery = scenery
        self.moments = moments

    def run(self) -> None:
        op = self.scenery.op
        first = self.scenery.first
        self.run_block(op, first)
        self.run_block(op, self.scenery.second, "with a second block, ")
        self.run_block(self.scenery.other, self.scenery.third, "with a second block, ")
        for error in (KeyError("raised"), KeyboardInterrupt("raised")):
            trial = f"with a {type(error).__name__} inside, "
            self.run_block(op, first, trial, error=error)
        self.run_block(op, first, "with a nested block, ", act=self.run_inner_block)

    def note(self, when: str) -> None:
        self.moments.append(Moment(when, self.scenery.look()))

    def run_block(self, old, new, trial: str = "", act=None, error=None) -> None:
        """Run one block; `act` is called in it, and `error` raised."""
        manager = require_attempt(self.rebind(old, new))
        if not hasattr(type(manager), "__exit__"):
            cure = f"not {short_repr(manager)}. Decorate a generator with contextmanager"
            raise InvalidAnswer(f"it must return a context manager, {cure}")
        self.note(f"{trial}when it is called")

        raised = None
        try:
            with manager:
                self.note(f"{trial}{INSIDE}")
                if act is not None:
                    act()
                if error is not None:
                    raise error
        except BaseException as caught:
            raised = caught

        self.note(f"{trial}{AFTER}")
        if error is not None and raised is None:
            raise InvalidAnswer(f"it swallowed the {short_repr(error)} raised inside the block")
        if raised is not error:
            raise raised

    def run_inner_block(self) -> None:
        with self.rebind(self.scenery.first, self.scenery.second):
            self.note(f"nested {INSIDE} of another rebinding")
        self.note("after the inner of two nested blocks")


def _advise_on_names(mine: list[Moment], real: list[Moment]) -> str:
    """Return the first name that leads elsewhere than it should, and what that usually means."""
    for own, right in zip(mine, real, strict=False):
        if own.when != right.when:
            return _describe_error(mine[-1].roles)
        for path in own.roles | right.roles:
            role = own.roles.get(path)
            right_role = right.roles.get(path)
            if role != right_role:
                return _describe_name(own.when, path, role, right_role)
    return ""


def _describe_error(raised: Raised) -> str:
    if "==" in where_raised(raised.error):
        return f"{raised.sentence}. An object's == may raise an error"
    return raised.sentence


def _describe_name(when: str, path: str, role: str | None, right_role: str | None) -> str:
    """Return what is wrong with a name that leads to one function and should to another."""
    is_inside = INSIDE in when
    is_after = AFTER in when
    if is_inside and right_role == "twin":
        return "it replaced an object that is only equal to the old one"
    if is_after and right_role == "first":
        fault = "it also changed a name that led to the replacement before the block"
        return f"{fault}. Remember what you changed instead of searching again"
    if is_inside and role == "op":
        return f"{when}, {path} still leads to the old function"
    if is_after and right_role == "op":
        fault = f"{when}, {path} does not lead to the old function again"
        has_raised = "Error inside" in when or "Interrupt" in when
        return f"{fault}. Restore it in a finally" if has_raised else fault
    leads = f"leads to {role or 'nothing'}"
    return f"{when}, {path} {leads}, but must lead to {right_role or 'its old value'}"


@exercise(
    "Start from the small module scan of section 4. It already finds the names to write to.",
    "Remember each (namespace, name) that you change. Write new, yield, write old back.",
    "In try, write new everywhere and yield. In finally, write old back to the remembered "
    "places. Decorate the function with @contextlib.contextmanager.",
)
def rebinding(my_rebind_everywhere: Callable, op: Callable):
    """Your blocks rebind every module name, nest, survive errors, and restore every name."""
    case = JudgedCase("on copies of all modules", partial(_run_on_copies, op), _advise_on_names)
    return find_difference(my_rebind_everywhere, _rebind_everywhere, [case])
