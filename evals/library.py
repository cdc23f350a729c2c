"""Kernels of the expert library as honest cases: written when they are needed, never stored."""

from pathlib import Path

from pydantic import Field

from egg.evals.corpus import Case
from egg.state.device import Device
from egg.state.evaluation import Status
from egg.state.problem import Problem
from egg.state.record import Record
from egg.state.settings import Policy
from egg.tools.expert import write_kernel
from egg.tools.store import Store
from egg.tools.workload import analyse

PROBLEMS = Path(__file__).parent / "problems"
PRODUCTS = ("linear_gelu", "matmul_residual", "bmm_scale", "mlp_mean", "attention_full")
"""Problems whose kernels differ with the policy."""


class Order(Record):
    """One kernel to ask the library for."""

    problem: str = Field(description="Path of the problem file")
    structure: int = Field(description="Number in the workload's list of structures")
    policy: Policy = Policy.STOCK

    @property
    def name(self) -> str:
        stem, policy = Path(self.problem).stem, "" if self.policy is Policy.STOCK else f"-{self.policy}"
        return f"library-{stem}-{self.structure}{policy}"


def library() -> tuple[Order, ...]:
    """Every own problem in its first two structures, and products under the other policies too."""
    files = [str(path) for path in sorted(PROBLEMS.glob("*.py"))]
    stock = [Order(problem=file, structure=number) for number in (0, 1) for file in files]
    products = [file for file in files if Path(file).stem in PRODUCTS]
    other = [Order(problem=file, structure=0, policy=p) for p in (Policy.IEEE, Policy.TF32) for file in products]
    return (*stock, *other)


def written(order: Order, problem: Problem, device: Device, store: Store) -> Case | None:
    """The kernel as a case; None if the problem has not so many structures.

    Raises:
        MachineError: no child process could be started.
    """
    structures = analyse(problem, order.policy, store).structures
    if order.structure >= len(structures):
        return None
    structure = structures[order.structure]
    kernel = write_kernel(problem, policy=order.policy, device=device, structure=structure, store=store)
    label = "partly_triton" if kernel.torch_regions else ""
    return Case(
        name=f"{order.name}-{structure}",
        source=kernel.source,
        problem=order.problem,
        expected=(Status.OK,),
        label=label,
        seconds=120.0,
    )
