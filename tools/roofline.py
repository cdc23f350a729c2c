"""What the hardware allows: the least time a problem can take on a GPU."""

from egg.state.device import Device
from egg.state.problem import Workload
from egg.state.settings import Policy

FLOOR_SHARE = 0.9  # of the datasheet's bandwidth limit; a measured time below it is not a time


def roofline_ms(workload: Workload, device: Device, policy: Policy) -> tuple[float, str]:
    """Milliseconds, and `memory` or `compute`: every byte moved once against every FLOP at the policy's best rate.

    It knows nothing of algebraic collapse, which can do with fewer FLOPs than the reference has.
    """
    moving = workload.min_bytes / device.bandwidth
    computing = _computing(workload, device, policy)
    return 1e3 * max(moving, computing), "memory" if moving >= computing else "compute"


def matmul_rate(workload: Workload, device: Device, policy: Policy) -> float:
    """FLOP/s of the fastest way to a product that the policy's accuracy allows.

    Where fp32 accuracy is asked, that is three passes over half-precision parts on the tensor cores.
    """
    peak = device.peak
    dtypes = {tensor.dtype for tensor in workload.inputs}
    for dtype, unit in (("float16", "fp16"), ("bfloat16", "bf16")):
        if dtype in dtypes and "float32" not in dtypes:
            return peak[unit]
    convolves = any("conv" in op for region in workload.regions for op in region.ops)
    if policy is Policy.TF32 or (policy is Policy.STOCK and convolves):
        return max(peak["tf32"], peak["fp32"])
    return max(peak["fp32"], peak["fp16"] / 3, peak["tf32"] / 3)


def floor_ms(workload: Workload, device: Device) -> float:
    """A time no honest kernel beats: cold inputs and parameters read once, outputs that the cache cannot hold written.

    Zero for a degenerate problem, whose answer may need none of its inputs.
    """
    if workload.needs_no_inputs:
        return 0.0
    return 1e3 * FLOOR_SHARE * max(0, workload.min_bytes - device.l2_bytes) / device.bandwidth


def arithmetic_floor_ms(workload: Workload, device: Device, policy: Policy) -> float:
    """A time that the reference's own arithmetic cannot beat at the policy's best rate.

    An honest kernel can: an algebraic collapse, a structured operand or a transform needs fewer operations. So this
    floor says which algorithm it is, and needs the outputs of timed calls beside it to say more.
    """
    if workload.needs_no_inputs:
        return 0.0
    return 1e3 * FLOOR_SHARE * _computing(workload, device, policy)


def _computing(workload: Workload, device: Device, policy: Policy) -> float:
    products = workload.matmul_flops / matmul_rate(workload, device, policy)
    plain = max(0, workload.flops - workload.matmul_flops) / device.peak["fp32"]
    return max(products, plain)
