"""Generators: send, throw, close, yield from, expressions, and what consumes them."""

# ruff: noqa - programs for a machine use every form, also those that nobody should write
import itertools
import types


def counting():
    def count(n):
        for i in range(n):
            yield i

    return list(count(4)), sum(count(5)), [*count(2)], max(count(3)), dict(zip("ab", count(9)))


def infinite():
    def naturals():
        n = 0
        while True:
            yield n
            n += 1

    return list(itertools.islice(naturals(), 5)), next(n for n in naturals() if n > 10)


def send():
    def average():
        total, count, value = 0, 0, None
        while True:
            value = yield value
            if value is None:
                return total
            total += value
            count += 1
            value = total / count

    g = average()
    out = [next(g), g.send(10), g.send(20)]
    try:
        g.send(None)
    except StopIteration as stop:
        out.append(stop.value)
    return out


def send_before_start():
    def g():
        yield 1

    g().send(5)


def throw():
    def g():
        while True:
            try:
                yield 1
            except ValueError as error:
                yield f"caught {error}"

    it = g()
    return next(it), it.throw(ValueError("v")), next(it), it.throw(ValueError("w"))


def throw_uncaught():
    def g():
        yield 1

    it = g()
    next(it)
    it.throw(KeyError("out"))


def throw_before_start():
    def g():
        print("never")
        yield 1

    g().throw(KeyError("early"))


def close():
    log = []

    def g():
        try:
            yield 1
            yield 2
        except GeneratorExit:
            log.append("exit")
            raise
        finally:
            log.append("finally")

    it = g()
    next(it)
    it.close()
    return log, list(it)


def close_is_ignored():
    def g():
        try:
            yield 1
        except GeneratorExit:
            yield 2

    it = g()
    next(it)
    it.close()


def dropped_generator_is_closed():
    log = []

    def g():
        try:
            yield 1
        finally:
            log.append("closed")

    for x in g():
        break
    it = g()
    next(it)
    del it
    return log


def return_value():
    def g():
        yield 1
        return "value"

    def outer():
        result = yield from g()
        yield result

    return list(outer())


def yield_from_many():
    def flat(items):
        for item in items:
            if isinstance(item, list):
                yield from flat(item)
            else:
                yield item

    def chain(*iterables):
        for iterable in iterables:
            yield from iterable

    return list(flat([1, [2, [3, 4], []], 5])), list(chain("ab", [1], range(2)))


def yield_from_sends():
    def inner():
        got = []
        while (x := (yield len(got))) is not None:
            got.append(x)
        return got

    def outer():
        a = yield from inner()
        b = yield from inner()
        yield a, b

    g = outer()
    next(g)
    return [g.send(1), g.send(2), g.send(None), g.send(3), g.send(None)]


def yield_from_throws():
    def inner():
        try:
            yield 1
        except KeyError:
            yield "inner caught"
        return "inner done"

    def outer():
        try:
            result = yield from inner()
            yield result
            yield from inner()
        except ValueError as error:
            yield f"outer caught {error}"

    g = outer()
    return next(g), g.throw(KeyError()), next(g), next(g), g.throw(ValueError("v"))


def yield_from_throw_ends_inner():
    def inner():
        try:
            yield 1
        except KeyError:
            return "ended by throw"

    def outer():
        result = yield from inner()
        yield result

    g = outer()
    next(g)
    return g.throw(KeyError())


def yield_from_throw_into_a_list():
    def outer():
        try:
            yield from [1, 2, 3]
        except KeyError:
            yield "outer"

    g = outer()
    return next(g), g.throw(KeyError()), list(g)


def yield_from_close():
    log = []

    def inner():
        try:
            yield 1
        finally:
            log.append("inner")

    def outer():
        try:
            yield from inner()
        finally:
            log.append("outer")

    g = outer()
    next(g)
    g.close()
    return log


def generator_expression():
    k = 3
    squares = (x * x + k for x in range(4) if x % 2)
    k = 100
    return (
        list(squares),
        sum(x for x in range(5)),
        any(x > 3 for x in range(5)),
        " ".join(str(x) for x in "abc"),
    )


def generator_expression_is_lazy():
    log = []

    def see(x):
        log.append(x)
        return x

    g = (see(x) for x in [1, 2, 3])
    first = next(g)
    return first, log, list(g), log


def stop_iteration_inside():
    def g():
        yield 1
        raise StopIteration("leaks")

    list(g())


def next_inside_a_generator():
    def g(it):
        while True:
            yield next(it)

    try:
        list(g(iter([1, 2])))
    except RuntimeError as error:
        return str(error), repr(error.__cause__)


def generator_raises():
    def g():
        yield 1
        1 / 0

    out = []
    try:
        for x in g():
            out.append(x)
    except ZeroDivisionError as error:
        return out, str(error)


def already_executing():
    def g():
        yield next(it)

    it = g()
    next(it)


def generator_in_a_handler():
    def g():
        try:
            yield 1
        except KeyError as error:
            yield repr(error.__context__)
            try:
                raise ValueError("mine")
            except ValueError as mine:
                yield repr(mine.__context__)

    it = g()
    next(it)
    try:
        raise OSError("outside")
    except OSError:
        return it.throw(KeyError("k")), next(it)


def handled_exception_does_not_leak():
    def g():
        try:
            raise KeyError
        except KeyError:
            yield 1
            raise ValueError("after")

    it = g()
    next(it)
    try:
        next(it)
    except ValueError as error:
        a = repr(error.__context__)
    it = g()
    next(it)
    try:
        raise OSError
    except OSError as error:
        return a, error.__context__


def type_and_name():
    def numbers():
        yield 1

    g = numbers()
    return type(g) is types.GeneratorType, g.__name__, g.__qualname__, iter(g) is g


def generator_methods():
    class Tree:
        def __init__(self, value, left=None, right=None):
            self.value, self.left, self.right = value, left, right

        def __iter__(self):
            if self.left:
                yield from self.left
            yield self.value
            if self.right:
                yield from self.right

    return list(Tree(2, Tree(1), Tree(4, Tree(3)))), [x for x in Tree(9)]


def pipeline():
    def read(lines):
        for line in lines:
            yield line.strip()

    def keep(lines, word):
        return (line for line in lines if word in line)

    def number(lines):
        for n, line in enumerate(lines, 1):
            yield f"{n}: {line}"

    return list(number(keep(read([" a cat", "dog ", "cat 2"]), "cat")))


def iterator_class():
    class Count:
        def __init__(self, n):
            self.n = n

        def __iter__(self):
            return self

        def __next__(self):
            if self.n == 0:
                raise StopIteration
            self.n -= 1
            return self.n

    return [x for x in Count(3)], list(Count(2)), [a for a in Count(1)], 2 in Count(5)


def iterator_by_getitem():
    class Seq:
        def __getitem__(self, i):
            if i > 3:
                raise IndexError
            return i * i

    return [x for x in Seq()], list(Seq()), 4 in Seq()


def bad_iterator():
    class Bad:
        def __iter__(self):
            return 5

    for x in Bad():
        pass


def primes():
    def sieve():
        found = []
        for n in itertools.count(2):
            if all(n % p for p in found):
                found.append(n)
                yield n

    return list(itertools.islice(sieve(), 10))


def permutations():
    def perms(s):
        if len(s) <= 1:
            yield s
        else:
            for i, c in enumerate(s):
                for rest in perms(s[:i] + s[i + 1 :]):
                    yield c + rest

    return list(perms("abc"))


def generator_with_with():
    log = []

    class M:
        def __enter__(self):
            log.append("in")

        def __exit__(self, *a):
            log.append("out")

    def g():
        with M():
            yield 1
            yield 2

    for x in g():
        log.append(x)
    return log


def lambda_generator():
    g = (lambda: (yield 5))()
    return next(g), list(g)


def generator_closes_over():
    def make():
        n = 0

        def g():
            nonlocal n
            while n < 3:
                n += 1
                yield n

        return g

    g = make()
    return list(g()), list(g())
