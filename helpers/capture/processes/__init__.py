"""Code run in a separate process, and its outcome."""
