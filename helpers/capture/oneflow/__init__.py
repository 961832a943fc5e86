"""Jobs and registries of the small OneFlow."""
