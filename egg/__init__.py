"""EGG: expert-guided agents that turn PyTorch modules into proven Triton kernels."""

__version__ = "0.1.0"
