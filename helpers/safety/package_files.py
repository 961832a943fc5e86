"""The files of installed distributions -> what is wrong with them, and which modules they offer.

Standard library alone, and nothing of this folder, so that any CPython from 3.11 on can run this
file by its path:

    python package_files.py '[["numpy", "torch"], false]'

looks at the Python that runs it. Its last line is a JSON object, distribution -> what was found.
The second value says whether to look at the named distributions alone.
"""

import csv
import importlib.util
import json
import marshal
import os
import re
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

# One may be installed where the other is asked for; each suits another machine.
BUILDS = {"tensorflow": "tensorflow-cpu", "tensorflow-cpu": "tensorflow"}
EDITABLE = {"whoruns": ("helpers",)}  # the modules of what is installed as a path to its source
NOT_IMPORTED = {"tests", "test", "testing", "docs", "doc", "examples", "benchmarks"}
EXTENSIONS = (".py", ".so", ".pyd")
DIST_INFO = re.compile(r"(?P<name>[A-Za-z0-9][A-Za-z0-9._]*)-(?P<version>[^-]+)\.dist-info$")
REQUIRES = re.compile(r"Requires-Dist: *([A-Za-z0-9][A-Za-z0-9._-]*)")
ANSWERED = ("version", "fault", "modules", "requires")  # the fields that are printed


class Distribution(NamedTuple):
    """An installed distribution."""

    #: Its name in the one spelling.
    name: str
    #: The installed version.
    version: str
    #: Its .dist-info folder, None for an older form.
    folder: Path | None
    #: What is wrong with its files; "" if nothing is.
    fault: str
    #: The modules that it offers.
    modules: tuple[str, ...]
    #: The distributions that it requires.
    requires: list[str]


def look_at_files(names: list[str], only_named: bool) -> dict[str, dict]:
    """Return what is known of the distributions of this very Python.

    It is distribution -> a dict with the keys of `ANSWERED`. With `only_named`, only the files of
    `names` are looked at, and those of other builds of them.
    """
    wanted = None
    if only_named:
        wanted = {*names, *(BUILDS[name] for name in names if name in BUILDS)}
    own_folders = {os.path.realpath(sysconfig.get_path(name)) for name in ("purelib", "platlib")}

    found: dict[str, Distribution] = {}
    for folder in dict.fromkeys(map(os.path.realpath, sys.path)):
        is_own = folder in own_folders
        for entry in _distributions(Path(folder), own=is_own, wanted=wanted):
            # Python imports the one that comes first in `sys.path`.
            before = found.setdefault(entry.name, entry)
            if before is not entry and before.folder.parent == entry.folder.parent:
                versions = f"{before.version} and {entry.version}"
                found[entry.name] = entry._replace(fault=f"is installed twice: {versions}")
    for name in names:
        if name not in found:
            with suppress(metadata.PackageNotFoundError):
                found[name] = _read_older_form(name)

    answer = {}
    for name, entry in found.items():
        answer[name] = {field: getattr(entry, field) for field in ANSWERED}
    return answer


def _read_older_form(name: str) -> Distribution:
    """Return a distribution that has no list of its files, as `importlib.metadata` knows it."""
    version = metadata.version(name)
    return Distribution(name, version, None, "", (name.replace("-", "_"),), [])


def incomplete(site_packages: str | os.PathLike) -> list[Path]:
    """Return the .dist-info folders whose files are not all there, as an interrupted install left.

    An installer that finds none of them installs their distributions again.
    """
    site_packages = Path(site_packages).resolve()
    return [entry.folder for entry in _distributions(site_packages) if entry.fault]


def canonical(name: str) -> str:
    """Return the one spelling of a distribution's name: import_linter is import-linter."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _distributions(
    site_packages: Path, *, own: bool = True, wanted: set[str] | None = None
) -> Iterator[Distribution]:
    """Yield the distributions of a folder, by name; those in `wanted` alone unless it is None.

    Only in an environment's `own` folder must there be a RECORD: Linux distributions remove it.
    """
    try:
        entries = sorted(site_packages.iterdir())
    except OSError:  # no folder, or one that may not be read
        return
    folders = [entry for entry in entries if DIST_INFO.match(entry.name)]
    records = {folder: _read_record(folder, own) for folder in folders}
    all_files = [files for files, _ in records.values()]
    for folder, (files, fault) in records.items():
        name, version = DIST_INFO.match(folder.name).groups()
        name = canonical(name)
        if wanted is None or name in wanted:
            fault = fault or _fault_of_files(site_packages, files, all_files)
            modules = _modules(files) or _usual_modules(name, bool(files))
            yield Distribution(name, version, folder, fault, modules, _requirements(folder))


def _usual_modules(name: str, has_files: bool) -> tuple[str, ...]:
    """Return the modules to try of a distribution in whose files no module is found.

    Without a list of files its own name is a guess.
    """
    if has_files:
        return EDITABLE.get(name, ())
    return (name.replace("-", "_"),)


def _read_record(folder: Path, own: bool) -> tuple[dict[str, str], str]:
    """Return path -> size as RECORD lists them, and what is wrong with RECORD itself, or "".

    `own` says whether the distribution is in the environment's own folder, where it has a RECORD.
    """
    try:
        text = (folder / "RECORD").read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}, "its install did not finish" if own else ""
    except (OSError, ValueError):
        return {}, "its list of files (RECORD) cannot be read"
    rows = [row for row in csv.reader(text.splitlines()) if row]
    is_whole = text.endswith("\n") and all(len(row) == 3 for row in rows)
    if not is_whole or not any(path == f"{folder.name}/RECORD" for path, *_ in rows):
        return {}, "its list of files (RECORD) is cut short"
    return {path: size for path, _, size in rows}, ""


def _fault_of_files(
    site_packages: Path, files: dict[str, str], all_files: list[dict[str, str]]
) -> str:
    """Return in words which of the listed files is missing or has another size; "" if none.

    `files` are those of the RECORD, and `all_files` those of every RECORD in the folder. Where
    several distributions have installed the same file, the size of any is right.
    """
    prefix = os.path.join(_prefix(site_packages), "")
    missing = []
    changed = []
    cut = []
    for path, size in files.items():
        place = _place_of(path, site_packages, prefix)
        if place is None:
            continue
        try:
            size_there = os.stat(place).st_size
        except OSError:
            missing.append(path)
            continue
        if path.endswith(".py") and _is_cut_bytecode(importlib.util.cache_from_source(place)):
            cut.append(f"the compiled form of {path} is cut short, as on a full disk")
        if not size.isdigit() or size_there == int(size) or _may_change(path, place):
            continue
        if not any(others.get(path) == str(size_there) for others in all_files):
            changed.append(f"{path} has {size_there:,} bytes instead of {int(size):,}")

    if len(missing) > 1:
        return f"{len(missing):,} of its files are missing, such as {missing[0]}"
    if missing:
        return f"its file {missing[0]} is missing"
    faults = changed + cut
    return faults[0] if faults else ""


def _place_of(path: str, site_packages: Path, prefix: str) -> str | None:
    """Return where a listed file has to be; None if it is not looked at.

    `prefix` is the environment's folder. A file outside of it, or a compiled one, may be missing.
    """
    if path.endswith(".pyc"):
        return None
    place = os.path.join(site_packages, path)
    if not path.startswith(".."):
        return place
    place = os.path.normpath(place)
    return place if place.startswith(prefix) else None


def _is_cut_bytecode(path: str) -> bool:
    """Return whether a compiled file would be loaded and cannot be: CPython 3.11 leaves such."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError:
        return False
    if data[:4] != importlib.util.MAGIC_NUMBER:
        return False
    try:
        marshal.loads(data[16:])  # behind the header, which has 16 bytes
    except (EOFError, ValueError, TypeError):
        return True
    return False


def _prefix(site_packages: Path) -> str:
    """Return the folder of the environment whose packages these are."""
    for folder in site_packages.parents:
        if (folder / "pyvenv.cfg").exists():
            return str(folder)
    return os.path.realpath(sys.prefix)


def _may_change(path: str, place: str) -> bool:
    """Return whether a file may have another size than RECORD says, because others change it.

    It is one of certificates, a setting, or a script, whose first line names the environment.
    """
    if path.endswith(".pem"):  # a company adds its own
        return True
    if not path.startswith(".."):
        return False
    if "etc" in path.split("/"):
        return True
    with open(place, "rb") as file:
        return file.read(2) == b"#!"  # the place of the environment


def _modules(files: Iterable[str]) -> tuple[str, ...]:
    """Return the modules that a distribution offers, without private ones and tests."""
    modules = set()
    for path in files:
        if not path.endswith(EXTENSIONS):
            continue
        *folders, file = path.split("/")
        stem = file.partition(".")[0]
        names = folders if stem == "__init__" else [*folders, stem]
        if all(map(_is_public, names)):
            modules.add(tuple(names))
    # Only the outermost modules are imported. A folder without __init__.py is a namespace and no
    # module; the packages in it count where there is nothing else.
    nearest = min(map(len, modules), default=0)
    return tuple(sorted(".".join(names) for names in modules if len(names) == nearest))


def _is_public(name: str) -> bool:
    """Tell whether a name is that of a module which is for others to import."""
    is_private = name.startswith("_") or name.endswith("__mypyc")
    return name.isidentifier() and not is_private and name not in NOT_IMPORTED


def _requirements(folder: Path) -> list[str]:
    """Return the names of the distributions that one requires, without those of its extras."""
    try:
        text = (folder / "METADATA").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    header = text.partition("\n\n")[0].splitlines()
    names = []
    for line in header:
        found = REQUIRES.match(line)
        if found and "extra ==" not in line:
            names.append(canonical(found[1]))
    return names


def main() -> None:
    """Look at the files of the Python that runs this."""
    # The folder of this file has modules of its own, whose names must not hide packages.
    here = os.path.dirname(os.path.realpath(__file__))
    sys.path[:] = [folder for folder in sys.path if os.path.realpath(folder) != here]
    print(json.dumps(look_at_files(*json.loads(sys.argv[1]))))


if __name__ == "__main__":
    main()
