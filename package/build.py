"""What the build adds: types to the wheel, JupyterLab's defaults to an install of the course."""

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Parts(BuildHookInterface):
    """hatchling makes one for each wheel; `version` tells an install by `pip install -e`."""

    def initialize(self, version, build_data):
        """Name the files that stand elsewhere."""
        if self.target_name == "wheel" and version == "editable":
            # JupyterLab reads defaults from etc/jupyter/labconfig of its environment; a learner's
            # own settings still win.
            build_data["shared_data"]["share/etc"] = "etc"
        elif self.target_name == "wheel":
            build_data["force_include"]["package/whoruns.pyi"] = "whoruns/__init__.pyi"
            build_data["force_include"]["package/py.typed"] = "whoruns/py.typed"
