"""A Python -> which of its packages are broken: files that are gone, imports and ops that fail.

Standard library alone, so that any CPython from 3.11 on can run this file by its path:

    python package_trial.py torch numpy==2.4.6 ...

tries the Python that runs it. Its last line is a JSON object, distribution -> what is wrong.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

if __package__:
    from .import_processes import ImportFailure, ImportTrial
    from .package_files import BUILDS, canonical
else:  # run by its path, where `helpers` may not be importable
    from import_processes import ImportFailure, ImportTrial
    from package_files import BUILDS, canonical

FILES_CHILD = Path(__file__).resolve().with_name("package_files.py")
SECONDS = 600  # that one package may take to import


class Trial(NamedTuple):
    """What was found."""

    #: Distribution -> what is wrong with it.
    faults: dict[str, str]
    #: Distribution -> the faulty one because of which it does not import.
    consequences: dict[str, str]
    #: The version of each distribution that was looked at.
    versions: dict[str, str]

    def fault(self, name: str) -> str:
        """Return what is wrong with a distribution, be it a consequence; "" if nothing is."""
        cause = self.consequences.get(name)
        if cause:
            return f"does not import, because {cause} is broken"
        return self.faults.get(name, "")


def faults(
    python: str | os.PathLike,
    names: Iterable[str],
    timeout: float = SECONDS,
    env: dict[str, str] | None = None,
) -> dict[str, str]:
    """Return distribution -> what is wrong with it, for a Python by its path; {} if all is well.

    The files of every installed distribution are looked at; those of `names` are also imported.

    Parameters
    ----------
    names
        Distributions as requirements.txt names them, alone or pinned: "jupyterlab", "numpy==2.4.6".
    timeout
        Seconds after which the import of one package counts as hanging.
    env
        The variables of the children; those of this process if None.
    """
    return try_packages(python, names, timeout, env).faults


def try_packages(
    python: str | os.PathLike,
    names: Iterable[str],
    timeout: float = SECONDS,
    env: dict[str, str] | None = None,
    *,
    only_named: bool = False,
    done: Callable[[str], None] = lambda name: None,
) -> Trial:
    """Try the packages of a Python; `faults` explains the arguments.

    Parameters
    ----------
    only_named
        Look at the files of `names` alone, not at those of every distribution.
    done
        Is called with each name as soon as its import has ended.
    """
    pins = dict(_parse_pin(name) for name in names)
    variables = {"TF_CPP_MIN_LOG_LEVEL": "3", **(os.environ if env is None else env)}
    found = _ask_for_files(python, variables, list(pins), only_named)
    if found is None:
        return Trial(dict.fromkeys(pins, "cannot be tried: this Python does not start"), {}, {})

    broken = {name: entry["fault"] for name, entry in found.items() if entry["fault"]}
    modules = {}
    for name, version in pins.items():
        installed = name if name in found else BUILDS.get(name)
        if installed in found:
            fault = _fault_of_version(found[installed]["version"], version)
            if fault:
                broken.setdefault(installed, fault)
        elif installed not in broken:
            broken[name] = "is not installed"
        if installed in found and installed not in broken:
            modules[installed] = found[installed]["modules"]
        else:
            done(name)

    failures = ImportTrial(python, variables, timeout, done).run(modules)
    consequences = _find_consequences(failures, broken, found)
    for name in failures.keys() - consequences.keys():
        broken[name] = failures[name].fault
    versions = {name: entry["version"] for name, entry in found.items()}
    return Trial(broken, consequences, versions)


def _parse_pin(text: str) -> tuple[str, str]:
    name, _, version = text.partition("==")
    return canonical(name.strip()), version.strip()


def _fault_of_version(installed: str, pinned: str) -> str:
    """Return that another version than the pinned one is installed; "" if it is not."""
    if not pinned or _without_build(installed) == _without_build(pinned):
        return ""
    return f"version {installed} is installed instead of {pinned}"


def _without_build(version: str) -> str:
    """Return a version without the label of its build: 2.13.0+cpu is 2.13.0."""
    return version.partition("+")[0]


def _ask_for_files(
    python: str | os.PathLike, variables: dict[str, str], names: list[str], only_named: bool
) -> dict | None:
    """Return distribution -> its version, fault, modules and requirements; None if none answers."""
    command = [os.fspath(python), str(FILES_CHILD), json.dumps([names, only_named])]
    try:
        answer = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=variables,
            timeout=SECONDS,
            check=True,
        )
        return json.loads(answer.stdout.splitlines()[-1])
    except (OSError, subprocess.SubprocessError, ValueError, IndexError):
        return None


def _find_consequences(
    failures: dict[str, ImportFailure], broken: dict[str, str], found: dict[str, dict]
) -> dict[str, str]:
    """Return distribution -> the broken one because of which its import failed, where one is."""
    requires = {name: entry["requires"] for name, entry in found.items()}
    known_broken = [name for name in broken if name in found]
    consequences = {}
    for name, failure in failures.items():
        needed = _all_requirements(name, requires)
        causes = [other for other in known_broken if other in needed]
        causes += [other for other in known_broken if failure.is_in(found[other])]
        for other in failures:
            if other in needed and name not in _all_requirements(other, requires):
                causes.append(other)
        if causes:
            consequences[name] = causes[0]
    return consequences


def _all_requirements(name: str, requires: dict[str, list[str]]) -> set[str]:
    """Return what a distribution requires, and what that requires in turn."""
    needed = set()
    waiting = [name]
    while waiting:
        for other in requires.get(waiting.pop(), ()):
            if other not in needed:
                needed.add(other)
                waiting.append(other)
    return needed - {name}


def main(names: list[str]) -> None:
    """Try the packages that the command line names, of the Python that runs this."""
    print(json.dumps(faults(sys.executable, names)))


if __name__ == "__main__":
    main(sys.argv[1:])
