"""Environments to break: one of small made-up distributions, one that links to the real packages.

Nothing here writes into the environment that runs the tests.
"""

import os
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

from helpers.safety import package_files, package_trial

QUIET = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}  # or it writes through the links
IMPORTED = "import os\nopen(os.environ['LOG'], 'a').write(f'{__name__} {os.getpid()}\\n')\n"


class Environment:
    """A virtual environment without pip: its folder, its Python, its site-packages."""

    def __init__(self, folder: Path):
        command = [sys.executable, "-m", "venv", "--without-pip", folder]
        subprocess.run(command, check=True, capture_output=True)
        self.folder, self.log = folder, folder / "imported.txt"
        inside = Path(sysconfig.get_path("purelib")).relative_to(sys.prefix)
        self.site = folder / inside
        self.python = folder / Path(sys.executable).relative_to(sys.prefix)

    def try_packages(self, *names: str, **options) -> package_trial.Trial:
        """Try packages of this environment, by the variables of the tests."""
        env = {**QUIET, "LOG": str(self.log)}
        env.pop("PYTHONPATH", None)
        return package_trial.try_packages(self.python, names, env=env, **options)

    def faults(self, *names: str, **options) -> dict[str, str]:
        """Return what is wrong with which distribution."""
        return self.try_packages(*names, **options).faults

    def incomplete(self) -> set[str]:
        """Return the names of the distributions whose files are not all there."""
        return {
            folder.name.split("-")[0]
            for folder in package_files.find_incomplete_installs(self.site)
        }

    def imports(self) -> dict[str, str]:
        """Return module -> the process that imported it, of those made by `importing`."""
        return dict(line.split() for line in self.log.read_text().splitlines())

    def install(self, name: str, files: dict[str, str], version="1.0", requires=()) -> Path:
        """Write a distribution as an installer does; return its .dist-info folder."""
        info = f"{name.replace('-', '_')}-{version}.dist-info"
        lines = [f"Name: {name}", f"Version: {version}"]
        lines += [f"Requires-Dist: {other}" for other in requires]
        files = {**files, f"{info}/METADATA": "\n".join(lines) + "\n\nWords.\n"}
        record = [f"{info}/RECORD,,"]
        for path, text in files.items():
            place = self.site / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(text.encode())
            record.append(f"{path},sha256=unchecked,{len(text.encode())}")
        (self.site / info / "RECORD").write_text("\n".join(record) + "\n")
        return self.site / info


def importing(code: str = "") -> str:
    """Return the source of a module that notes its import, then runs `code`."""
    return IMPORTED + code


class RealPackages(Environment):
    """The packages of the Python that runs the tests, as links: each file can be taken away."""

    def __init__(self, folder: Path):
        super().__init__(folder)
        fill_with_links(self.folder, Path(sys.prefix))

    def unfold(self, path: str) -> Path:
        """Make a path one of this environment alone; return its place, a link to the real file."""
        place = self.site / path
        for folder in reversed(place.relative_to(self.folder).parents):
            mine = self.folder / folder
            if mine.is_symlink():
                real = mine.resolve()
                mine.unlink()
                mine.mkdir()
                fill_with_links(mine, real)
        return place

    def remove(self, path: str) -> None:
        """Take a file or a folder away."""
        self.unfold(path).unlink()

    def replace(self, path: str, content: bytes) -> None:
        """Put another content in a file's place."""
        place = self.unfold(path)
        place.unlink()
        place.write_bytes(content)


def fill_with_links(folder: Path, real: Path) -> None:
    """Link to all that is in the real folder and not in this one."""
    for entry in os.scandir(real):
        mine = folder / entry.name
        if not os.path.lexists(mine):
            mine.symlink_to(entry.path)
        elif mine.is_dir() and not mine.is_symlink():
            fill_with_links(mine, Path(entry.path))


def recorded_files(site: Path) -> Iterator[tuple[str, str, int]]:
    """Yield distribution, path and size of all installed files of some size."""
    for info in sorted(site.glob("*.dist-info")):
        for line in (info / "RECORD").read_text(encoding="utf-8").splitlines():
            path, _, size = line.rsplit(",", 2)
            if size.isdigit() and int(size) and not path.endswith(".pyc") and '"' not in path:
                yield info.name.split("-")[0], path, int(size)
