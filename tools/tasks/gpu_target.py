"""A target's name as Triton has it."""

from triton.backends.compiler import GPUTarget

WARP, WAVE = 32, 64


def triton_target(name: str) -> GPUTarget:
    """Of `sm_90` or `gfx942`."""
    if name.startswith("sm_"):
        return GPUTarget("cuda", int(name.removeprefix("sm_")), WARP)
    return GPUTarget("hip", name, WAVE)
