"""Readers of what a compiler wrote: PTX, SASS and AMD GCN as text. No GPU, no Triton."""
