"""Notebooks -> the same without stored widget views; a hook of pre-commit.

A view is a pointer into the state of widgets, which is not stored: its ids differ from run to run.
Without the pointer a trusted notebook that was not run yet shows the HTML form instead of
"Error displaying widget". Usage: python tools/strip_views.py NOTEBOOK...
"""

import sys

import nbformat

VIEW = "application/vnd.jupyter.widget-view+json"


def strip(nb) -> bool:
    """Remove the views from a notebook's outputs; say whether there were any."""
    outputs = [o for cell in nb.cells for o in cell.get("outputs", ()) if VIEW in o.get("data", ())]
    for output in outputs:
        del output["data"][VIEW]
    return bool(outputs)


def main(paths) -> int:
    """Rewrite the notebooks that hold views; return 1 if any did, as a hook does."""
    changed = False
    for path in paths:
        nb = nbformat.read(path, as_version=nbformat.NO_CONVERT)
        if strip(nb):
            nbformat.write(nb, path)
            print(f"stripped {path}")
            changed = True
    return int(changed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
