"""A code object's file -> whose it is: the standard library's, a library's, the house's."""

import os
import sysconfig
from pathlib import Path

_PLACES = sysconfig.get_paths()
STANDARD = tuple(_PLACES[name] + os.sep for name in ("stdlib", "platstdlib"))
LIBRARIES = tuple(_PLACES[name] + os.sep for name in ("purelib", "platlib"))
HOUSE = str(Path(__file__).parents[1]) + os.sep
