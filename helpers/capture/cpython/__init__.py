"""CPython itself: code, bytecode, frames, the value stack, tracers; what its objects hold."""
