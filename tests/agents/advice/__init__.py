"""What the guides rest on, tried again: kernels that make a mistake and are mended, code that Triton makes, algebra."""
