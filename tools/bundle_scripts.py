"""Sources of scripts -> the bundles that Python reads: `python -m tools.bundle_scripts`.

The sources are ES modules in `helpers/view/scripts/`. esbuild bundles them, and Biome, one program
without further packages, lints and formats them. npm installs both into `.tools/scripts`. A learner
needs none of these: the bundles are in the repository.

`--install` only installs the two programs.
"""

import argparse
import hashlib
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "helpers" / "view" / "scripts"
TESTS = ROOT / "tests" / "view" / "scripts"
WIDGETS = ROOT / "helpers" / "view" / "widgets" / "bundle"
BOOK = ROOT / "helpers" / "course" / "book" / "templates"
TEMPLATES = ROOT / "helpers" / "view" / "templates"
DECK = ROOT / "helpers" / "course" / "deck"
INSTALLED = ROOT / ".tools" / "scripts"
INSTALL = "python -m tools.bundle_scripts --install"
PINS = ("package.json", "package-lock.json", ".npmrc")
LIMIT = 300  # seconds that npm may take
_IMPORT = re.compile(r'^(?:import|export) [^;]*?from "(\.{1,2}/[^"]+)";', re.MULTILINE)


FORMS = {
    "esm": ("--format=esm",),  # a module with exports, which anywidget imports
    "script": ("--format=iife",),  # for a `<script>` element
    "handler": ("--format=iife", "--minify-whitespace", "--minify-syntax"),  # for an `onload`
}


class Bundle(NamedTuple):
    """A script that Python reads, and the module that it begins with."""

    entry: str  # the name of its module in SOURCES, without the suffix
    folder: Path = WIDGETS  # where it is written
    form: str = "esm"  # or one of FORMS

    @property
    def path(self) -> Path:
        """The file of the bundle."""
        return self.folder / f"{self.entry}.js"

    @property
    def module(self) -> Path:
        """The file of the module that it begins with."""
        return SOURCES / f"{self.entry}.js"


BUNDLES = (
    Bundle("book", BOOK, "script"),
    Bundle("call_tree", TEMPLATES, "handler"),
    Bundle("choice"),
    Bundle("code"),
    Bundle("deck", DECK, "script"),
    Bundle("host", form="script"),
    Bundle("inline_picture", TEMPLATES, "handler"),
    Bundle("progress_line"),
    Bundle("recap", BOOK, "script"),
    Bundle("rerun"),
    Bundle("routes"),
    Bundle("sandbox"),
    Bundle("stage"),
    Bundle("word_filter", TEMPLATES, "handler"),
)


def main(words: list[str]) -> int:
    """Install what is missing, write the bundles, and lint and format the sources."""
    parser = argparse.ArgumentParser(prog="python -m tools.bundle_scripts", description=__doc__)
    parser.add_argument("--install", action="store_true", help="only install the programs")
    only_install = parser.parse_args(words).install

    if only_install or not is_installed():
        install()
    if only_install:
        return 0
    formatted = run_biome("format", "--write")
    for bundle in BUNDLES:
        bundle.path.parent.mkdir(exist_ok=True)
        bundle.path.write_bytes(build(bundle))
    linted = run_biome("lint")
    return formatted or linted


def is_installed() -> bool:
    """Return whether both programs are here, in the versions that are pinned."""
    same = [path.is_file() and path.read_bytes() == pin.read_bytes() for path, pin in pins()]
    return all(same) and program("esbuild").exists()


def pins() -> list[tuple[Path, Path]]:
    """Return the files by which npm knows what to install: where it reads them, and ours."""
    return [(INSTALLED / name, SOURCES / name) for name in PINS]


def install() -> None:
    """Install the programs with npm, as the lock file pins them."""
    npm = shutil.which("npm")
    if npm is None:
        raise SystemExit("npm is missing: install Node.js, and run the same command again.")
    INSTALLED.mkdir(parents=True, exist_ok=True)
    for path, pin in pins():
        path.write_bytes(pin.read_bytes())
    subprocess.run([npm, "ci", "--no-progress"], cwd=INSTALLED, timeout=LIMIT, check=True)


def program(name: str) -> Path:
    """Return where npm puts a program."""
    suffix = ".cmd" if sys.platform == "win32" else ""
    return INSTALLED / "node_modules" / ".bin" / f"{name}{suffix}"


def run_biome(*words: str) -> int:
    """Let Biome look at the sources and their tests; return its exit code."""
    command = [str(program("biome")), *words, str(SOURCES), str(TESTS)]
    return subprocess.run(command, cwd=SOURCES, check=False).returncode  # its settings are there


def build(bundle: Bundle) -> bytes:
    """Return what esbuild makes of a bundle's modules; the first line says what they were."""
    command = [str(program("esbuild")), bundle.module.name, "--bundle", *FORMS[bundle.form]]
    command += ["--charset=utf8", "--log-level=warning", f"--banner:js={banner(bundle)}"]
    done = subprocess.run(command, cwd=SOURCES, stdout=subprocess.PIPE, check=True)
    return done.stdout


def banner(bundle: Bundle) -> str:
    """Return the first line of a bundle: where it comes from, and the hash of its sources."""
    source = bundle.module.relative_to(ROOT).as_posix()
    return f"// Bundled by tools/bundle_scripts.py from {source}, sha256 {hash_sources(bundle)}"


def hash_sources(bundle: Bundle) -> str:
    """Return the hash of all modules of a bundle, with their names."""
    found = hashlib.sha256()
    for path in find_modules(bundle.module):
        found.update(path.relative_to(SOURCES).as_posix().encode())
        found.update(path.read_text(encoding="utf-8").encode())  # with any system's ends of lines
    return found.hexdigest()


def find_modules(entry: Path) -> list[Path]:
    """Return a module and all that it imports, sorted by their names."""
    found = {entry}
    waiting = [entry]
    while waiting:
        module = waiting.pop()
        for name in _IMPORT.findall(module.read_text(encoding="utf-8")):
            imported = (module.parent / name).resolve()
            if imported not in found:
                found.add(imported)
                waiting.append(imported)
    return sorted(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
