"""Models in other forms: C source, ONNX graphs, JSON."""
