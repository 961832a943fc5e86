"""TensorFlow: graphs, AutoGraph, Grappler, variables, op callbacks, the C API."""
