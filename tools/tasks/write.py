"""Child task: write a kernel.py with the expert library."""

from typing import Any

from egg.state.device import Device
from egg.state.settings import Policy
from egg.tools.expert.spec import KernelSpec
from egg.tools.expert.write import Order, write
from egg.tools.tasks import warm_export  # noqa: F401


def run(payload: dict[str, Any]) -> dict[str, Any]:
    """A `Skeleton` as JSON, from an `Order` as JSON."""
    order = Order(
        source=payload["source"],
        small_source=payload["small_source"],
        policy=Policy(payload["policy"]),
        device=Device.model_validate(payload["device"]),
        structure=payload["structure"],
        spec=KernelSpec.model_validate(payload["spec"]) if payload["spec"] else None,
        edits=payload["edits"],
    )
    return write(order).model_dump(mode="json")
