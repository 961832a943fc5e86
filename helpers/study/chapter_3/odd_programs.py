"""Small programs, one list per step, in which a handler that is nearly right does something else.

Objects answer `==`, `<`, `in` and bool in their own way, or fail in the middle. Standard library
only: every supported Python runs them.
"""

# ruff: noqa - each line is there for the bytecode that it becomes

from helpers.study.chapter_3.odd_errors import from_below

NOTHING, ZERO = None, 0
abs = check = Names = "the module's own"
REBOUND = "before"


class Odd:
    """Equal to everything, less than nothing; `in` and `<` answer with something like a bool."""

    def __init__(self, *items):
        self.items = items

    def __eq__(self, other):
        return True

    def __ne__(self, other):
        return False

    def __lt__(self, other):
        return "less", other

    def __contains__(self, item):
        return [item]

    def __bool__(self):
        print("bool is asked")
        return False

    def __getitem__(self, key):
        if key == 4:
            raise IndexError(key)
        return "item", key


class Full:
    """Empty, and true all the same; it tells how often it is asked."""

    def __len__(self):
        print("len is asked")
        return 0

    def __bool__(self):
        print("bool is asked")
        return True


class Failing:
    """An iterator that gives some items, and then raises something that is no end."""

    def __init__(self, *items, error):
        self.items, self.at, self.error = items, 0, error

    def __iter__(self):
        return self

    def __next__(self):
        if self.at == len(self.items):
            raise self.error
        self.at += 1
        print("next", self.at)
        return self.items[self.at - 1]


class Answering:
    """It has every attribute, and its class has some of its own."""

    of_all = "the class's"

    def __getattr__(self, name):
        return "asked for", name


def falsy_globals():
    return NOTHING, ZERO, abs


def named_as_yours():
    return check, Names


def rebound_global(a):
    global REBOUND
    REBOUND = a
    first = REBOUND
    REBOUND = [a]
    return first, REBOUND


def gone(a):
    b = a
    del b
    return b


def gone_twice(a):
    b = a
    del b
    del b


def same_object(a):
    x = y = [a]
    return x is y, x


def added_at(a, i):
    items = [a, a, a]
    items[i] += 7
    return items


def sliced(a, b):
    items = [a, b, a, b]
    items[1:3] += [9]
    return items


def attribute_added(a):
    box = Odd()
    box.a = a
    box.a -= 1
    return box.a


def deep_return(a):
    for x in a:
        for y in a:
            for z in a:
                return x - y * z


def many_times(a):
    for item in a:
        last = item
    return last, a


def values(a, b):
    c = b
    b = a
    return a, b, c, NOTHING


NAMES = [(falsy_globals, ()), (gone, (1,)), (gone_twice, (1,)), (same_object, (3,))]
NAMES += [(added_at, (1, 2)), (added_at, (1, 9)), (sliced, (4, 5)), (attribute_added, (3,))]
NAMES += [(values, (a, b)) for a, b in ((None, 0), (False, ""), ((), None))]
NAMES += [(deep_return, ((2, 3, 4),)), (named_as_yours, ()), (rebound_global, (1,))]
NAMES += [(many_times, (range(300),))]


def alike(a, b):
    c, d = [a], [b]
    return c is d, c is not d, c is c, c is not c


def identities(a, b):
    return a is b, a is not b


def answers(a):
    return Odd() < a, Odd() == a, Odd() != a


def within(a):
    return a in Odd(), a not in Odd()


def truth(a):
    return not a, not Odd()


def negated(a):
    return -a


def both_names(a, b):
    c = a = a + b
    c += b
    return a, c, a is c


NAN = float("nan")
OPERATORS = [(identities, (1, 1)), (identities, (NAN, NAN)), (identities, (1, True))]
OPERATORS += [(identities, (1, 2)), (alike, (1, 1)), (within, (3,)), (answers, (3,))]
OPERATORS += [(truth, ([],)), (truth, ("0",)), (truth, (NAN,)), (truth, (0.0,)), (truth, (-1,))]
OPERATORS += [(negated, (0.0,)), (negated, (True,)), (negated, ("a",)), (negated, (2.5,))]
OPERATORS += [(both_names, ([1], [2])), (both_names, ((1,), (2,)))]


def nothing(a):
    return "none" if a is None else "some"


def something(a):
    return "some" if a is not None else "none"


def nothing_like(a):
    box = Odd(a)
    if box is None:
        return "none"
    return "some" if box is not None else "none at last"


def falsy(a):
    if a:
        return "true"
    return "false"


def truthy(a):
    if not a:
        return "false"
    return "true"


def asked_once(a):
    if Odd(a):
        return 1
    return 2


def full_once(a):
    if not Full():
        return 1
    if Full():
        return 2
    return a


def interrupted(a):
    count = 0
    for item in Failing(1, None, error=a):
        count += 1
    return count


def counted(items):
    count = 0
    for item in items:
        count += 1
    return count, "and on"


def indexed(a):
    found = ()
    for item in Odd(*a):
        found += (item,)
        if item[1] == 2:
            break
    return found


def joined(a, b):
    while a < b:
        a += 1
        for n in (1, 2, 3):
            if n == a:
                continue
            if n > b:
                break
        else:
            a += 1
    return a or b and None


JUMPS = [(nothing, (None,)), (nothing, (0,)), (something, (None,)), (something, ([],))]
JUMPS += [(nothing_like, (1,)), (asked_once, (1,)), (interrupted, (ValueError("stop"),))]
JUMPS += [(case, (a,)) for a in (0.0, "", "0", [0], None, NAN, -1) for case in (falsy, truthy)]
JUMPS += [(interrupted, (GeneratorExit(),)), (interrupted, (RuntimeError("x"),)), (indexed, (1,))]
JUMPS += [(full_once, (0,)), (counted, (range(300),))]
JUMPS += [(interrupted, (kind("x"),)) for kind in (IndexError, KeyError, StopAsyncIteration)]
JUMPS += [(interrupted, (StopIteration(3),)), (counted, ((None, 0, False, (), ""),))]
JUMPS += [(counted, ("",)), (counted, ({1: 2, 3: 4},)), (counted, (None,)), (joined, (1, 4))]


def zero():
    return 0


def all_of(*args, **rest):
    return args, rest


def minus(a, b=1, *, c=0):
    return a - b - c


def above_others(a):
    return a, all_of(), [a, zero(), [zero()]], a - zero()


def keywords(a, b):
    return minus(b=a, a=b), minus(a, c=5), all_of(y=a, x=b), all_of(1, z=a, a=b)


def none_given():
    return all_of()


def no_attribute(a):
    return a.nothing


def subscripted(a):
    return list[int], a[-1], a[0]


def given_as_is(a):
    return Odd()[True], Odd()[a], Odd()[()]


def out_of_range(a):
    return a[len(a)]


def sorted_by(a):
    return sorted(a, key=str, reverse=True)


def two_lists(a):
    found = ()
    for _ in a:
        found += ([],)
    return found[0] is found[1], found


def raised_inside(a):
    return zero() + minus(a, None)


def no_call(a):
    return a(1)


class Account:
    def __init__(self, total):
        self.total = total

    def __call__(self, more):
        return self.paid(more)

    def paid(self, more, /, *, fee=0):
        return self.total + more - fee


def __pay__(account):
    pay = account.paid
    return account.paid(1), pay(2, fee=1), Account.paid(account, 3), account(4)


def methods(a):
    return __pay__(Account(a))


def attributes(a):
    own = Answering()
    own.of_all = a
    return own.of_all, own.nothing, Answering.of_all, Answering.__name__


CALLS = [
    (from_below, (1,)),
    (attributes, (1,)),
    (methods, (5,)),
    (none_given, ()),
    (above_others, (3,)),
    (keywords, (7, 2)),
    (no_attribute, (1,)),
]
CALLS += [
    (given_as_is, (None,)),
    (given_as_is, (-1.0,)),
    (subscripted, ((1, 2),)),
    (out_of_range, ((1, 2),)),
    (sorted_by, ((1, 3, 2),)),
]
CALLS += [(two_lists, ((1, 2),)), (raised_inside, (1,)), (no_call, (5,))]
