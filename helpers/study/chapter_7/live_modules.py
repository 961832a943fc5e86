"""All objects of this process -> the modules of torch among them that were not there before."""

import gc

from helpers.model.phrase import counted


def known_modules() -> set[int]:
    """Return the `id` of each module that is alive."""
    return {id(module) for module in _modules()}


def alive_since(known: set[int], after: str) -> str | None:
    """Say which modules are alive that are not known, `after` what; None if there is none."""
    gc.collect()
    left = [type(module).__name__ for module in _modules() if id(module) not in known]
    many = f"{counted(len(left), 'module')} ({', '.join(sorted({*left}))})"
    return f"still in memory after {after}: {many}" if left else None


def _modules() -> list:
    import torch

    objects = gc.get_objects()  # a million
    kinds = {id(kind): kind for kind in map(type, objects)}
    modules = {each for each, kind in kinds.items() if issubclass(kind, torch.nn.Module)}
    return [each for each in objects if id(type(each)) in modules]
