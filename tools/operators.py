"""Which of PyTorch's operators do arithmetic, told by their names."""

ALLOCATE = frozenset(("empty", "empty_strided", "empty_like", "empty_permuted", "new_empty", "new_empty_strided"))
FILL = frozenset(
    ("zeros", "zeros_like", "new_zeros", "zero", "zero_", "ones", "ones_like", "new_ones", "full", "full_like")
    + ("new_full", "fill", "fill_", "arange", "eye", "scalar_tensor")
)
COPY = frozenset(("clone", "copy_", "copy", "_to_copy", "contiguous", "lift_fresh_copy"))
OTHER = frozenset(("_local_scalar_dense", "resize_", "set_", "lift_fresh", "_unsafe_view"))


def computes(name: str) -> bool:
    """Whether it is neither an allocation nor a fill with a constant nor a plain copy. Views are not known by name."""
    return name not in ALLOCATE | FILL | COPY | OTHER
