"""A C++ definition file -> a program, kept in a cache and compiled anew when anything differs.

An entry is found by what went into it: the file's bytes, the compiler, the flags. It also lists
each further file that the compiler read, with a hash; one changed byte makes the entry useless.
"""

import hashlib
import json
import os
import shutil
from functools import cache
from pathlib import Path

from helpers.mini.oneflow.errors import NoCompiler, OpError, place
from helpers.safety import folders, progress
from helpers.safety.children import run
from helpers.safety.folders import Home, write_new
from helpers.safety.missing_parts import COMPILER_CURE

INCLUDE = Path(__file__).parent / "include"
FLAGS = ("-std=c++11", "-O0", "-I", str(INCLUDE))
LONGEST = 120  # seconds


def find_compiler():
    """Return the path of g++ or clang++ (or of $CXX); None where there is none."""
    named = os.environ.get("CXX")
    for name in [named] if named else ["g++", "clang++"]:
        if path := shutil.which(name):
            return path
    return None


def build(source) -> Path:
    """Return the folder in the cache that holds the file's `program`. Raises OpError."""
    compiler = find_compiler()
    if compiler is None:
        raise NoCompiler(
            f"{place(source)} needs a C++ compiler, and neither g++ nor clang++ is found: "
            f"{COMPILER_CURE}, or write the same definition in Python, "
            f"{place(str(source).replace('_cpp_def.cpp', '_op_def.py'))}, "
            "and load it with .py_def()"
        )
    home, name = cache_folder(), _key(source, compiler)
    if not _usable(home.path / name, source.parent):
        _compile(source, compiler, home, name)
    return home.path / name


@cache
def _opened() -> Home:
    return folders.cache("cpp_definitions")


def cache_folder() -> Home:
    """Return the folder that keeps programs; a new one if it was taken away meanwhile."""
    if not _opened().stands():
        _opened.cache_clear()
    return _opened()


def _key(source, compiler):
    found = Path(compiler).resolve().stat()
    parts = (compiler, found.st_size, found.st_mtime_ns, FLAGS, source.name)
    return hashlib.sha256(source.read_bytes() + repr(parts).encode()).hexdigest()[:32]


def _usable(entry, folder):
    """Say whether an entry is whole and every file that it was made of is the same still."""
    try:
        reads = json.loads((entry / "reads.json").read_text())
        same = all(_hash(folder / name) == digest for name, digest in reads.items())
        return same and not entry.is_symlink() and (entry / "program").is_file()
    except (OSError, ValueError):
        return False


def _compile(source, compiler, home, name):
    with progress.doing(f"compiling {source.name}"), home.work() as work:
        made = work / "entry"
        made.mkdir()
        command = [compiler, *FLAGS, "-MMD", "-MF", str(work / "reads.d"), source.name]
        try:
            done = run(
                [*command, "-o", str(made / "program")],
                LONGEST,
                cwd=source.parent,
                env={**os.environ, "LC_ALL": "C", "TMPDIR": str(work)},  # ended, it leaves files
            )
        except OSError as error:
            raise OpError(f"{place(source)} could not be compiled: {error}") from error
        if done.late:
            raise OpError(f"{place(source)} could not be compiled in {LONGEST} seconds")
        if done.code:
            raise OpError(f"{place(source)} does not compile: {_first_error(done.err, source)}")
        hashes = {read: _hash(source.parent / read) for read in _reads(work / "reads.d")}
        write_new(made / "reads.json", json.dumps(hashes).encode())
        try:
            home.put(made, name)
        except OSError:
            if not _usable(home.path / name, source.parent):  # else another process was faster
                raise


def _reads(rule):
    """Return the files that a make rule of the compiler names, but for the source itself."""
    words = rule.read_text().partition(":")[2].replace("\\\n", " ").replace("\\ ", "\0").split()
    return [word.replace("\0", " ").replace("\\#", "#").replace("$$", "$") for word in words[1:]]


def _hash(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _first_error(text, source):
    """Return the compiler's first line that names an error, and where the source comes to it."""
    lines = [line.strip() for line in text.replace(f"{INCLUDE}{os.sep}", "").splitlines()]
    first = next((line for line in lines if "error" in line.lower()), None)
    if first is None:
        return lines[0] if lines else "the compiler said nothing"
    places = [line.split(":")[1] for line in lines if line.startswith(f"{source.name}:")]
    inside = first.startswith(source.name) or not any(map(str.isdigit, places))
    return first if inside else f"{first} (from {source.name}, line {places[0]})"
