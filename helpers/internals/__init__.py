"""The private names of CPython and torch that the course reads, each said once."""
