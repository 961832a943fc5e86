"""PyTorch: tensors, FX graphs, Dynamo, guards, Inductor."""
