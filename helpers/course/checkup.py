"""This Python and this machine -> a row for each thing that the course needs: (mark, what, text).

The rows of the Python and the environment come from course.py; here come the packages against
their pins, the memory, the disk, and what the course can do without.
"""

import shutil
import sys
from collections.abc import Iterator
from importlib import metadata

import course

Row = tuple[str, str, str]
KEY_PACKAGES = """jupyterlab ipywidgets anywidget nbval networkx numpy bytecode
    torch tensorflow-cpu tensorflow"""
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
NOT_INSTALLED = "MISSING", "packages", f"not installed: {course.REPAIR}"


def check(rows: list[list[str]]) -> int:
    """Print the given rows and the others; return 0 if the course can run here."""
    broken = any(row[:2] == ["MISSING", "environment"] for row in rows)
    return course.report([*rows, *([NOT_INSTALLED] if broken else packages()), *machine()])


def packages() -> Iterator[Row]:
    """Yield a row for each key package, for what does not load, and for the memory."""
    try:
        import psutil
        from packaging.requirements import Requirement
    except ImportError:
        yield NOT_INSTALLED
        return
    lines = (course.ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = [Requirement(line) for line in lines if line.split("=")[0] in KEY_PACKAGES.split()]
    rows = [package(pin) for pin in pins if pin.marker is None or pin.marker.evaluate()]
    yield from rows
    whole = all(mark != "MISSING" for mark, *_ in rows)
    for module in ("helpers", "torch", "tensorflow") if whole else ():
        if not loads(module):
            say_why = f'{sys.executable} -c "import {module}"'
            yield "MISSING", f"import {module}", f"fails; run this to see why: {say_why}"
    memory = psutil.virtual_memory()
    total, free = (size / course.GIGABYTE for size in (memory.total, memory.available))
    text = f"{total:.1f} GB, {free:.1f} GB free"
    more = "" if free > 2 else ": an open notebook needs 1 GB, so close others"
    yield "note" if more else "ok", "memory", text + more


def package(pin) -> Row:
    """Return the row for a pinned package, a `packaging` requirement."""
    try:
        version = metadata.version(pin.name)
    except metadata.PackageNotFoundError:
        return "MISSING", pin.name, f"pinned {pin.specifier}: {course.REPAIR}"
    if pin.specifier.contains(version):
        return "ok", pin.name, version
    return "note", pin.name, f"{version}, pinned {pin.specifier}"


def loads(module: str) -> bool:
    """Tell whether a fresh Python imports a module; TensorFlow and PyTorch not in one process."""
    return course.ask([sys.executable, "-c", f"import {module}"], timeout=300) is not None


def machine() -> Iterator[Row]:
    """Yield the rows for disk, compiler and browser; the course can do without the last two."""
    free = shutil.disk_usage(course.ROOT).free / course.GIGABYTE
    yield "ok" if free > 0.5 else "note", "disk", f"{free:.1f} GB free"
    for what, names, use in (
        ("C compiler", ("cc", "gcc", "clang", "cl"), "chapters 4 and 5 show more with one"),
        ("Chromium", BROWSERS, "only the tests in a browser need one"),
    ):
        found = next(filter(None, map(shutil.which, names)), None)
        yield "ok" if found else "optional", what, f"{found or 'not found'} ({use})"
