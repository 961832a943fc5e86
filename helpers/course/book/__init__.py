"""Notebooks -> site/: the course as pages that need no Python, no kernel and no network."""
