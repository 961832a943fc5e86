"""What holds for TensorFlow and PyTorch alike: calls, ops, recorders."""
