"""Chapter 1, exercise 3: rebind a function in the names of all modules."""

import sys
from collections.abc import Callable
from contextlib import contextmanager
from functools import partial
from types import MethodType, ModuleType, SimpleNamespace

from helpers.capture.cpython.objects import namespace
from helpers.capture.text.value import short_repr
from helpers.safety.restoring import patched
from helpers.study.check import InvalidAnswer, NotAttempted, exercise, tried, where_raised
from helpers.study.engine import Case, Raised, find_difference

INSIDE, AFTER = "inside the block", "after the block"
INNER = "item [0] of a list, which is not a module,"
OWN = ("twin", "op", "other", "first", "second", "third")


def _places(module) -> dict:
    """Return the name of a place -> (its value, a function that writes to it)."""
    names = namespace(module).items()
    return {f".{name}": (value, partial(setattr, module, name)) for name, value in names}


@contextmanager
def _reference(old, new):
    holders = [module for module in sys.modules.values() if _holds(module, old)]
    places = [place for holder in holders for place in _places(holder).values()]
    writes = [write for value, write in places if value is old]
    try:
        for write in writes:
            write(new)
        yield
    finally:
        for write in writes:
            write(old)


def _stand_in(name: str):
    def function(*args, **kwargs):
        return name

    function.__name__, function.__module__ = name, "scenery"
    return function


class _World:
    """A function to rebind, and modules with it. `other` and `twin` are equal, not identical."""

    def __init__(self, op):
        function, owner = _stand_in("other"), object()
        self.op, self.held, self.modules = op, {}, sys.modules
        self.other, self.twin = MethodType(function, owner), MethodType(function, owner)
        self.first, self.second, self.third = map(_stand_in, OWN[3:])
        self.inner = [self.op]
        rows = [self.first, self.op, self.twin, self.op], [self.first, 5, self.other], []
        rows += ([self.op, self.inner, self.other, self.twin],)
        for at, row in enumerate(rows, 1):
            names = dict(zip(("op", "_op", "late", "table"), row, strict=False))
            self.held[f"scenery{at}"] = _make_module(names)

    def look(self) -> dict[str, str]:
        names = {id(getattr(self, name)): name for name in OWN}
        found = {INNER: names.get(id(self.inner[0]), "")}
        for path, holder in self.held.items():
            for name, (value, _) in _places(holder).items():
                found[path + name] = names.get(id(value), "")
        return found


def _run(op, rebind):
    """Return what each module's names led to at each moment, while a learner's function runs."""
    world, moments = _make_world(op), []
    try:
        with patched(sys, modules=world.modules):
            _run_trials(rebind, world, moments)
    except (NotAttempted, InvalidAnswer):
        raise
    except Exception as error:
        moments.append(("", Raised(type(error), error)))
    return moments


def _run_trials(rebind, world, moments) -> None:
    def block(old, new, trial="", act=None, error=None):
        manager, came = tried(rebind(old, new)), None
        if not hasattr(type(manager), "__exit__"):
            cure = f"not {short_repr(manager)}. Decorate a generator with contextmanager"
            raise InvalidAnswer(f"it must return a context manager, {cure}")
        moments.append((f"{trial}when it is called", world.look()))
        try:
            with manager:
                moments.append((trial + INSIDE, world.look()))
                if act is not None:
                    act()
                if error is not None:
                    raise error
        except BaseException as raised:
            came = raised
        moments.append((trial + AFTER, world.look()))
        if error is not None and came is None:
            raise InvalidAnswer(f"it swallowed the {short_repr(error)} raised inside the block")
        if came is not error:
            raise came

    def nest():
        with rebind(world.first, world.second):
            moments.append((f"nested {INSIDE} of another rebinding", world.look()))
        moments.append(("after the inner of two nested blocks", world.look()))

    block(world.op, world.first)
    for old, new in ((world.op, world.second), (world.other, world.third)):
        block(old, new, "with a second block, ")
    for error in (KeyError("raised"), KeyboardInterrupt("raised")):
        block(world.op, world.first, f"with a {type(error).__name__} inside, ", error=error)
    block(world.op, world.first, "with a nested block, ", act=nest)


def _advise(mine, real) -> str:
    for (when, seen), (moment, wanted) in zip(mine, real, strict=False):
        if when != moment:
            raised = mine[-1][1]
            cause = ". An object's == may raise an error"
            return raised.sentence + cause * ("==" in where_raised(raised.error))
        for path in seen | wanted:
            held, must = seen.get(path), wanted.get(path)
            if held == must:
                continue
            if INSIDE in when and must == "twin":
                return "it replaced an object that is only equal to the old one"
            if AFTER in when and must == "first":
                words = "it also changed a name that led to the replacement before the block"
                return f"{words}. Remember what you changed instead of searching again"
            if INSIDE in when and held == "op":
                cure = "still leads to the old function"
            elif AFTER in when and must == "op":
                cure = "does not lead to the old function again"
                cure += ". Restore it in a finally" * (
                    "Error inside" in when or "Interrupt" in when
                )
            else:
                cure = f"leads to {held or 'nothing'}, but must lead to {must or 'its old value'}"
            return f"{when}, {path} {cure}"
    return ""


def _make_module(names):
    made = ModuleType("scenery")
    vars(made).update(names)
    return made


def _make_world(op) -> _World:
    world, copies = _World(op), dict(sys.modules)
    for name, module in sys.modules.items():
        if isinstance(module, ModuleType):
            copies[name] = _make_module(namespace(module))
    namespace(copies["__main__"])["scenery_op"] = op
    if "psutil" in copies:  # the time limit looks psutil up by this name
        copies["psutil"] = SimpleNamespace(**namespace(copies["psutil"]))
    more = {"scenery": world.held["scenery1"], "scenery.nothing": None, "scenery.none": object()}
    world.modules = {**copies, **world.held, **more}
    world.held |= {name: module for name, module in copies.items() if _holds(module, op)}
    return world


def _holds(module, op) -> bool:
    is_module = isinstance(module, ModuleType)
    return is_module and any(value is op for value in namespace(module).values())


@exercise(
    "Start from the small module scan of section 4. It already finds the names to write to.",
    "Remember each (namespace, name) that you change. Write new, yield, write old back.",
    "In try, write new everywhere and yield. In finally, write old back to the remembered "
    "places. Decorate the function with @contextlib.contextmanager.",
)
def rebinding(my_rebind_everywhere: Callable, op: Callable):
    """Your blocks rebind every module name, nest, survive errors, and restore every name."""
    case = Case("on copies of all modules", partial(_run, op), _advise)
    return find_difference(my_rebind_everywhere, _reference, [case])
