"""Frozen records of str, int, bool and tuples: the one meeting place of capture and view."""
