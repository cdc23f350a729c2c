"""The expert library: reads a module as an ATen graph and writes readable Triton for its regions."""
