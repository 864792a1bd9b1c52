"""The PyTorch profiler's (Kineto) JSON."""
