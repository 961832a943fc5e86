"""`python -m whoruns` -> one screen: versions, the verbs in a line each, and what is missing."""

import platform
from importlib import import_module
from textwrap import shorten

from .safety import PACKAGE, missing_parts
from .safety.former_names import OF_COURSE

WIDEST = 76  # of a verb's words
# What is asked for most at work.
MOST_ASKED = """
    rebind_everywhere show_autograph show_bindings show_bytecode show_fx show_grad_fn show_graph
    show_guards show_interceptions show_journey show_names show_traceback watch_breaks watch_call
    watch_compile watch_fixes watch_in_child watch_inductor watch_mutations watch_names watch_ops
    watch_recompiles watch_stack watch_traces watching_breaks watching_ops watching_recompiles
    watching_traces would_trace
""".split()  # noqa: SIM905


def screen() -> str:
    """Return what the package has to say of itself and of this Python."""
    door = import_module(PACKAGE)
    found = {name: missing_parts.installed(name) for name in ("numpy", *missing_parts.FRAMEWORKS)}
    versions = {PACKAGE: door.__version__, "Python": platform.python_version(), **found}
    told = [", ".join(f"{name} {version}" for name, version in versions.items() if version), ""]
    lost = {name for name in found if not found[name]}
    for name in MOST_ASKED:
        try:
            words = getattr(door, name).__doc__.partition("\n\n")[0].partition(". ")[0]
        except ModuleNotFoundError as error:  # a package that the verbs need
            words = f"needs {error.name}"
            lost.add(error.name)
        told.append(f"  {name:19} {shorten(words.removesuffix('.'), WIDEST, placeholder=' …')}")
    others = len({*door.__all__} - OF_COURSE - {*MOST_ASKED})
    told.append(f"  and {others} more: dir({PACKAGE}); help({PACKAGE}.show_names) explains one")
    told.append(f"  for a training loop: with {PACKAGE}.watching_traces() as seen: model.fit(…)")
    told += ["", "Missing:" if lost else "Nothing is missing."]
    return "\n".join(told + [f"  {name}: {missing_parts.repair(name)}" for name in sorted(lost)])


if __name__ == "__main__":
    print(screen())
