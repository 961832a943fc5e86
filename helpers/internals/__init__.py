"""The private names of CPython, torch and TensorFlow that the course reads, each named once."""
