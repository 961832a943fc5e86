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
#: Names of `_Scenery`'s attributes that contain a function. A verdict calls functions by them.
ROLES = ("twin", "op", "other", "first", "second", "third")
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
    """Return whether a value of `sys.modules` is a module, one of whose names leads to `op`."""
    if not isinstance(module, ModuleType):
        return False
    return any(value is op for value in read_namespace(module).values())


def _make_function(name: str):
    """Return a function that returns its own name, as if it were of the module `scenery`."""

    def function(*args, **kwargs):
        return name

    function.__name__ = name
    function.__module__ = "scenery"
    return function


def _make_module(names: dict) -> ModuleType:
    """Return a new module with these names."""
    module = ModuleType("scenery")
    vars(module).update(names)
    return module


class _Scenery:
    """A function to rebind, other functions, and modules whose names lead to them.

    Attributes
    ----------
    op
        The function that a learner's block rebinds.
    other, twin
        Two methods that are equal, but not identical. A block may rebind `other`, never `twin`.
    first, second, third
        The replacements.
    inner
        A list that contains `op`. It is no module, so its item must stay.
    modules
        What stands in the place of `sys.modules` while a learner's function runs.
    watched
        Those of `modules` whose names are compared: the scenery's own, and the copies that have
        a name for `op`.
    """

    def __init__(self, op):
        owner = object()
        function = _make_function("other")
        self.op = op
        # Each MethodType of one function and one owner is a new object that equals the others.
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
            # `sys.modules` may contain a module twice, None, and objects that are no modules.
            "scenery": own_modules["scenery1"],
            "scenery.nothing": None,
            "scenery.none": object(),
        }
        holders = {name: module for name, module in copies.items() if _is_holder(module, op)}
        self.watched = {**own_modules, **holders}

    def _make_own_modules(self) -> dict[str, ModuleType]:
        """Return four small modules by name. A module may lead to `op` by two names, or by none."""
        rows = (  # the values of NAMES in each module
            (self.first, self.op, self.twin, self.op),
            (self.first, 5, self.other),
            (),
            (self.op, self.inner, self.other, self.twin),
        )
        modules = {}
        for number, values in enumerate(rows, 1):
            # strict=False: a short row gives its module only the first names.
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

    def read_roles(self) -> dict[str, str]:
        """Return module.name -> the role of the function to which it leads now, "" for no function.

        The roles are those of ROLES. One more entry is for the item of the list `inner`.
        """
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
    """Run a learner's blocks on copies of all modules; return what the names led to, by moment.

    An error ends the trials. It is then the last moment.
    """
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
        """Prepare trials of `rebind(old, new)`, a context manager; notes go into `moments`."""
        self.rebind = rebind
        self.scenery = scenery
        self.moments = moments

    def run(self) -> None:
        """Run plain blocks, then one for each error that is raised inside, then a nested one."""
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
        """Record what all names lead to now; `when` is this moment in words."""
        self.moments.append(Moment(when, self.scenery.read_roles()))

    def run_block(self, old, new, trial: str = "", act=None, error=None) -> None:
        """Run one block that rebinds `old` to `new`, and note the moments inside and after it.

        Parameters
        ----------
        trial
            What is special about the block, as the beginning of the moments' words.
        act
            A function without arguments that is called in the block; None for none.
        error
            An exception that is raised in the block and must come out of it; None for none.
        """
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
        except BaseException as caught:  # raised again below, once the moment after it is noted
            raised = caught

        self.note(f"{trial}{AFTER}")
        if error is not None and raised is None:
            raise InvalidAnswer(f"it swallowed the {short_repr(error)} raised inside the block")
        if raised is not error:
            raise raised

    def run_inner_block(self) -> None:
        """Rebind the replacement of the outer block, `first`, in a block of its own."""
        with self.rebind(self.scenery.first, self.scenery.second):
            self.note(f"nested {INSIDE} of another rebinding")
        self.note("after the inner of two nested blocks")


def _advise_on_names(mine: list[Moment], real: list[Moment]) -> str:
    """Return the first name that leads elsewhere than it should, and what that usually means.

    If an error ended the answer's trials, its moments are fewer, and the last one is the error.
    """
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
    """Return the error in words. If the learner's line compares with `==`, that is the cause."""
    if "==" in where_raised(raised.error):
        return f"{raised.sentence}. An object's == may raise an error"
    return raised.sentence


def _describe_name(when: str, path: str, role: str | None, right_role: str | None) -> str:
    """Return what is wrong with a name that leads to one function and should lead to another.

    Parameters
    ----------
    when
        The moment in words. It contains INSIDE or AFTER.
    path
        The name, as module.name.
    role, right_role
        The roles of the function to which the name leads, and of the right one. "" stands for
        something that is no function of the scenery, None for a name that does not exist.
    """
    is_inside = INSIDE in when
    is_after = AFTER in when
    if is_inside and right_role == "twin":
        return "it replaced an object that is only equal to the old one"
    if is_after and right_role == "first":
        # Some names lead to the replacement even before a block, and must do so after it.
        fault = "it also changed a name that led to the replacement before the block"
        return f"{fault}. Remember what you changed instead of searching again"
    if is_inside and role == "op":
        return f"{when}, {path} still leads to the old function"
    if is_after and right_role == "op":
        fault = f"{when}, {path} does not lead to the old function again"
        # As in "with a KeyError inside, " and "with a KeyboardInterrupt inside, " of `run`.
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
