"""Functions whose ways part, join and come back: which names does the rest of each still read?

They are looked at, and never run.
"""

# ruff: noqa: B007, D103, F841 - the programs say what they are by their names


def straight(a, b):
    x = a + b
    y = x + 1
    return x


def stored_again(a, b):
    x = a + b
    y = x.sum().item()
    x = a * y
    return x + b


def one_way(a, b, c):
    if a.sum() > 0:
        return b
    b = c
    return b


def stored_on_one_way(a, x, y):
    if a:
        x = y
    return x


def stored_on_the_other(a, x, y):
    if a:
        pass
    else:
        x = y
    return x


def diamond(a, x, y):
    if a:
        x = 1
    else:
        y = 1
    return x + y


def two_diamonds(a, b, x, y, z):
    if a:
        x = 1
    else:
        y = 1
    if b:
        y = 2
    else:
        z = 2
    return x + y + z


def looped(a, b):
    total = a.sum().item()
    step = 2
    while total > b:
        total = total - step
        step = step + 1
    return total


def stored_in_a_loop(items, found, other):
    for item in items:
        if item:
            found = other
        other = item
    return found


def nested(items, p, q):
    for a in items:
        last = p
        for b in items:
            last = q
            for c in items:
                last = c
    return a


def for_ever(a, b):
    while True:
        if a > 9:
            return a
        a = a + b


def gone(a, b):
    x = a
    del a
    if b:
        return x
    a = b
    return a


ALL = (
    *(straight, stored_again, one_way, stored_on_one_way, stored_on_the_other, diamond),
    *(two_diamonds, looped, stored_in_a_loop, nested, for_ever, gone),
)
