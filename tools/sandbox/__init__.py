"""Children that run PyTorch and Triton for us, and code that nobody has read."""
