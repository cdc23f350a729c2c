"""Child task: write a kernel.py with the expert library."""

from typing import Any

from egg.state.device import Device
from egg.state.settings import Policy
from egg.tools.expert.spec import KernelSpec
from egg.tools.expert.write import Order, write, write_all
from egg.tools.tasks import warm_export  # noqa: F401


def run(payload: dict[str, Any]) -> dict[str, Any]:
    """A `Skeleton` as JSON, from an `Order` as JSON."""
    return write(_order(payload)).model_dump(mode="json")


def run_all(payload: dict[str, Any]) -> dict[str, Any]:
    """`skeletons`, one for each of the `variants`: edits in place of the order's own."""
    written = write_all(_order(payload), payload["variants"])
    return {"skeletons": [skeleton.model_dump(mode="json") for skeleton in written]}


def _order(payload: dict[str, Any]) -> Order:
    return Order(
        source=payload["source"],
        small_source=payload["small_source"],
        policy=Policy(payload["policy"]),
        device=Device.model_validate(payload["device"]),
        structure=payload["structure"],
        spec=KernelSpec.model_validate(payload["spec"]) if payload["spec"] else None,
        edits=payload["edits"],
    )
