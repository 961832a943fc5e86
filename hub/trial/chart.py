"""Zero to JupyterHub's chart, as a folder -> what its schema says against hub/values.yaml.

Helm lays our values over the chart's own and checks the sum, and so does this.
"""

from pathlib import Path

import jsonschema
import yaml

from hub.trial.environment import HUB

VALUES = HUB / "values.yaml"


def faults(chart: Path, values: dict | None = None) -> list[str]:
    """Return each fault with its place; `chart` holds the chart's values.yaml and schema."""
    schema = yaml.safe_load((chart / "values.schema.yaml").read_text("utf-8"))
    whole = laid_over(read(chart / "values.yaml"), read(VALUES) if values is None else values)
    found = jsonschema.Draft7Validator(schema).iter_errors(whole)
    return [f"{'.'.join(map(str, one.absolute_path))}: {one.message}" for one in found]


def read(path: Path) -> dict:
    """Return the values of a file."""
    return yaml.safe_load(path.read_text("utf-8"))


def laid_over(under, over):
    """Return what Helm makes of two values: maps are joined, all else is the upper one's."""
    if not (isinstance(under, dict) and isinstance(over, dict)):
        return over
    return {**under, **{key: laid_over(under.get(key), value) for key, value in over.items()}}
