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
NOT_INSTALLED = "is not installed"
NO_START = "cannot be tried: this Python does not start"


class Trial(NamedTuple):
    """What was found out about the packages of a Python."""

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
    """Look at the files of packages, then import them in children; return what is broken.

    The first four arguments are those of `faults`.

    Parameters
    ----------
    only_named
        Look at the files of `names` alone, not at those of every distribution.
    done
        Is called with each name as soon as its import has ended.
    """
    pins = dict(_parse_pin(name) for name in names)  # name -> the pinned version, or ""
    # TensorFlow is to print errors alone, unless the environment says otherwise.
    variables = {"TF_CPP_MIN_LOG_LEVEL": "3", **(os.environ if env is None else env)}
    found = _ask_for_files(python, variables, list(pins), only_named)
    if found is None:
        return Trial(dict.fromkeys(pins, NO_START), {}, {})

    broken = {name: entry["fault"] for name, entry in found.items() if entry["fault"]}
    modules = {}  # distribution -> its modules, of those that are worth an import
    for name, version in pins.items():
        # Another build may be there under another name: tensorflow-cpu for tensorflow.
        installed_name = name if name in found else BUILDS.get(name)
        if installed_name in found:
            fault = _fault_of_version(found[installed_name]["version"], version)
            if fault:
                broken.setdefault(installed_name, fault)  # a fault of its files says more
        elif installed_name not in broken:
            broken[name] = NOT_INSTALLED
        if installed_name in found and installed_name not in broken:
            modules[installed_name] = found[installed_name]["modules"]
        else:
            done(name)  # nothing is imported for it

    failures = ImportTrial(python, variables, timeout, done).run(modules)
    consequences = _find_consequences(failures, broken, found)
    for name in failures.keys() - consequences.keys():
        broken[name] = failures[name].fault
    versions = {name: entry["version"] for name, entry in found.items()}
    return Trial(broken, consequences, versions)


def _parse_pin(text: str) -> tuple[str, str]:
    """Return name and version of "numpy==2.4.6"; the version is "" where none is pinned."""
    name, _, version = text.partition("==")
    return canonical(name.strip()), version.strip()


def _fault_of_version(installed: str, pinned: str) -> str:
    """Return in words that the installed version is not the pinned one; "" if it may be used.

    `pinned` is "" where any version will do.
    """
    if not pinned or _without_build(installed) == _without_build(pinned):
        return ""
    return f"version {installed} is installed instead of {pinned}"


def _without_build(version: str) -> str:
    """Return a version without the label of its build: 2.13.0+cpu is 2.13.0."""
    return version.partition("+")[0]


def _ask_for_files(
    python: str | os.PathLike, variables: dict[str, str], names: list[str], only_named: bool
) -> dict | None:
    """Return what `package_files.look_at_files` finds, run by another Python in a child.

    That is distribution -> a dict with the keys version, fault, modules and requires. None if that
    Python does not start or does not answer.
    """
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
        return json.loads(answer.stdout.splitlines()[-1])  # a site hook may print lines before
    except (OSError, subprocess.SubprocessError, ValueError, IndexError):
        return None


def _find_consequences(
    failures: dict[str, ImportFailure], broken: dict[str, str], found: dict[str, dict]
) -> dict[str, str]:
    """Return distribution -> the broken one because of which its import failed, where one is.

    `failures` has the imports that failed, `broken` the faults of files and versions, and `found`
    what `_ask_for_files` returns. A cause is a broken distribution that this one requires, or one
    whose modules the failed import went through, or a requirement that failed to import as well.
    """
    requires = {name: entry["requires"] for name, entry in found.items()}
    known_broken = [name for name in broken if name in found]
    consequences = {}
    for name, failure in failures.items():
        needed = _all_requirements(name, requires)
        causes = [other for other in known_broken if other in needed]
        causes += [other for other in known_broken if failure.is_in(found[other])]
        for other in failures:
            # Of two that require each other, neither is the cause.
            if other in needed and name not in _all_requirements(other, requires):
                causes.append(other)
        if causes:
            consequences[name] = causes[0]
    return consequences


def _all_requirements(name: str, requires: dict[str, list[str]]) -> set[str]:
    """Return what a distribution requires, and what that requires in turn, without itself."""
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
