"""Kernels that reduce rows: sums, extrema, softmax, norms, with the pointwise work around them fused in."""
