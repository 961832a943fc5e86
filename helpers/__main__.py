"""Print one screen for `python -m whoruns`: versions, the verbs in a line each, what is missing.
A *verb* is a public function of the package, such as `show_bytecode`.
"""

import platform
from importlib import import_module
from textwrap import shorten

from .safety import PACKAGE, missing_parts
from .safety.former_names import OF_COURSE

WIDEST = 76  # characters of the description of a verb
# The verbs that people at work use most. Only these are listed.
MOST_ASKED = """
    rebind_everywhere show_autograph show_bindings show_bytecode show_fx show_grad_fn show_graph
    show_guards show_interceptions show_journey show_names show_traceback watch_breaks watch_call
    watch_compile watch_fixes watch_in_child watch_inductor watch_mutations watch_names watch_ops
    watch_recompiles watch_stack watch_traces watching_breaks watching_ops watching_recompiles
    watching_traces would_trace
""".split()  # noqa: SIM905


def screen() -> str:
    """Return the text of the screen."""
    package = import_module(PACKAGE)
    # Name of a library -> its version, "" if it is not installed.
    libraries = ("numpy", *missing_parts.FRAMEWORKS)
    library_versions = {name: missing_parts.find_installed_version(name) for name in libraries}
    missing = {name for name, version in library_versions.items() if not version}
    versions = {
        PACKAGE: package.__version__,
        "Python": platform.python_version(),
        **library_versions,
    }
    installed = [f"{name} {version}" for name, version in versions.items() if version]

    lines = [", ".join(installed), ""]
    for name in MOST_ASKED:
        try:
            summary = _read_summary(getattr(package, name))
        except ModuleNotFoundError as error:  # importing the verb needs a package
            summary = f"needs {error.name}"
            missing.add(error.name)
        lines.append(f"  {name:19} {shorten(summary, WIDEST, placeholder=' …')}")
    other_count = len({*package.__all__} - OF_COURSE - {*MOST_ASKED})
    lines.append(
        f"  and {other_count} more: dir({PACKAGE}); help({PACKAGE}.show_names) explains one"
    )
    lines.append(f"  for a training loop: with {PACKAGE}.watching_traces() as seen: model.fit(…)")
    lines += ["", "Missing:" if missing else "Nothing is missing."]
    lines += [f"  {name}: {missing_parts.format_install_advice(name)}" for name in sorted(missing)]
    return "\n".join(lines)


def _read_summary(verb) -> str:
    """Return the first sentence of a verb's docstring, without the full stop."""
    first_paragraph = verb.__doc__.partition("\n\n")[0]
    first_sentence = first_paragraph.partition(". ")[0]
    return first_sentence.removesuffix(".")


if __name__ == "__main__":
    print(screen())
