"""Published limits and rates of GPUs, for machines that have none and for rates no API tells."""

from typing import NamedTuple

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30


class Limits(NamedTuple):
    """What the compute capability fixes. CUDA C++ Programming Guide, table of technical specifications.

    Of CDNA3 a compute unit: AMD Instinct MI300 instruction set reference, and the limits in LLVM's AMDGPU backend.
    """

    shared_bytes: int
    shared_bytes_sm: int
    threads_sm: int
    blocks_sm: int
    registers_sm: int = 64 * KIB


class Sheet(NamedTuple):
    """One product. Bandwidth in bytes/s; dense FLOP/s with fp32 accumulation, int8 in operations/s."""

    name: str
    target: str
    multiprocessors: int
    l2_bytes: int
    memory_bytes: int
    bandwidth: float
    fp32: float
    tf32: float
    half: float
    int8: float


LIMITS = {
    "sm_80": Limits(163 * KIB, 164 * KIB, 2048, 32),
    "sm_86": Limits(99 * KIB, 100 * KIB, 1536, 16),
    "sm_89": Limits(99 * KIB, 100 * KIB, 1536, 24),
    "sm_90": Limits(227 * KIB, 228 * KIB, 2048, 32),
    "sm_100": Limits(227 * KIB, 228 * KIB, 2048, 32),
    "sm_120": Limits(99 * KIB, 100 * KIB, 1536, 24),
    "gfx942": Limits(64 * KIB, 64 * KIB, 2048, 16, 128 * KIB),
}

WITHOUT_FP8 = ("sm_80", "sm_86")

# The first product of a target is the one `--target` stands for.
SHEETS = (
    Sheet("NVIDIA A100-SXM4-80GB", "sm_80", 108, 40 * MIB, 80 * GIB, 2.039e12, 19.5e12, 156e12, 312e12, 624e12),
    Sheet("NVIDIA A10", "sm_86", 72, 6 * MIB, 24 * GIB, 600e9, 31.2e12, 62.5e12, 125e12, 250e12),
    Sheet("NVIDIA GeForce RTX 3090", "sm_86", 82, 6 * MIB, 24 * GIB, 936e9, 35.6e12, 35.6e12, 71e12, 284e12),
    Sheet("NVIDIA L40S", "sm_89", 142, 96 * MIB, 48 * GIB, 864e9, 91.6e12, 183e12, 362e12, 733e12),
    Sheet("NVIDIA GeForce RTX 4090", "sm_89", 128, 72 * MIB, 24 * GIB, 1.008e12, 82.6e12, 82.6e12, 165.2e12, 660.6e12),
    Sheet("NVIDIA H200", "sm_90", 132, 60 * MIB, 141 * 10**9, 4.8e12, 67e12, 494.7e12, 989.4e12, 1979e12),
    Sheet("NVIDIA H100 80GB HBM3", "sm_90", 132, 50 * MIB, 80 * GIB, 3.35e12, 67e12, 494.7e12, 989.4e12, 1979e12),
    Sheet("NVIDIA H100 PCIe", "sm_90", 114, 50 * MIB, 80 * GIB, 2.0e12, 51e12, 378e12, 756e12, 1513e12),
    Sheet("NVIDIA B200", "sm_100", 148, 126 * MIB, 180 * 10**9, 8.0e12, 80e12, 1.1e15, 2.25e15, 4.5e15),
    Sheet("NVIDIA GeForce RTX 5090", "sm_120", 170, 96 * MIB, 32 * GIB, 1.792e12, 104.8e12, 104.8e12, 209.5e12, 838e12),
    # Its last-level cache: the second level is 4 MiB for each of eight dies.
    Sheet(
        "AMD Instinct MI300X", "gfx942", 304, 256 * MIB, 192 * 10**9, 5.3e12, 163.4e12, 653.7e12, 1307.4e12, 2614.9e12
    ),
)


def of_target(target: str) -> Sheet:
    """The product that a target stands for; KeyError for a target without one."""
    for sheet in SHEETS:
        if sheet.target == target:
            return sheet
    raise KeyError(target)


def of_name(name: str, target: str) -> Sheet | None:
    """The product of this name, as the driver spells it, or None."""
    known = [s for s in SHEETS if s.target == target and (name.startswith(s.name) or s.name.startswith(name))]
    return max(known, key=lambda sheet: len(sheet.name), default=None)


def peaks(sheet: Sheet, share: float = 1.0) -> dict[str, float]:
    """FLOP/s by precision of a share of the product's multiprocessors.

    fp8 is as fast as int8, but half that on GeForce, whose matrix units sum in fp32 at half their rate (NVIDIA Ada GPU
    architecture, appendix A); targets without units for it have none, and do it as fp16.
    """
    rates = {"fp32": sheet.fp32, "tf32": sheet.tf32, "fp16": sheet.half, "bf16": sheet.half, "int8": sheet.int8}
    if sheet.target not in WITHOUT_FP8:
        rates["fp8"] = sheet.int8 / 2 if "GeForce" in sheet.name else sheet.int8
    return {name: rate * share for name, rate in rates.items()}
