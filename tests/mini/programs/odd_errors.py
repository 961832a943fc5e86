"""Errors with their sentences, chains and tracebacks; `with` blocks whose exits fail."""

import traceback


def tb_format():
    try:
        1 / 0
    except ZeroDivisionError:
        return traceback.format_exc().splitlines()[-1]


def dict_merge_order():
    log = []

    def k(x):
        log.append(x)
        return x

    d = {k(1): k(2), **{k(3): k(4)}, k(5): k(6)}

    def f(**kw):
        return list(kw)

    return log, f(a=k(1), **{"b": k(2)}, c=k(3))
