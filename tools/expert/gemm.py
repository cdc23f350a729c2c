"""The kind `gemm`: matrix products in every ATen spelling, with bias and pointwise epilogue, in three structures.

- `tiled`: one program a tile of the output, one loop over K;
- `split_k`: several programs a tile, each with a chunk of K, for outputs too small to fill the GPU;
- `scaled_fp16` (fp32 only): a pass splits both operands into fp16 halves (22 bits of mantissa under a power of two a
  row), three fp16 products do the work of one in fp32. On Hopper it beats cuBLAS's IEEE fp32 by three. Under the policy
  `tf32` the high half, which has tf32's ten bits, suffices.
"""

from typing import TYPE_CHECKING, Any

from egg.state.device import Device
from egg.state.evaluation import StaticProfile
from egg.state.problem import Workload
from egg.state.settings import Policy
from egg.state.stage import Group
from egg.tools.expert import gemm_moves
from egg.tools.expert.chain import is_pointwise
from egg.tools.expert.gemm_decide import NOMINAL, decide, likely_structures
from egg.tools.expert.gemm_epilogue import place_of
from egg.tools.expert.gemm_operands import Operands, operands
from egg.tools.expert.gemm_text import write
from egg.tools.expert.kinds import Match
from egg.tools.expert.region import Graph, Region
from egg.tools.expert.spec import Move, RegionSpec

if TYPE_CHECKING:
    from torch.fx import Node


class Gemm:
    """Claims one product; pointwise operators behind it join its epilogue."""

    name = "gemm"

    def find(self, node: "Node", graph: Graph) -> tuple[Operands, tuple["Node", ...]] | None:
        """What `node` multiplies, and every node that the region then computes."""
        found = operands(node, graph)
        return (found, (node,)) if found else None

    def match(self, node: "Node", graph: Graph) -> Match | None:
        known = self.find(node, graph)
        if known is None:
            return None
        found, nodes = known
        if found.added is not None and place_of(graph.value(found.added), graph.value(node)) is None:
            return None
        facts: dict[str, Any] = {
            **found.product._asdict(),
            "dtype": graph.dtype(node),
            "batched": found.batched,
            "b_along_k": found.b_along_k,
            "int8": graph.dtype(found.b) == "int8",
        }
        return Match(nodes, (node,), facts)

    def absorbs(self, region: Region, node: "Node", side: str) -> bool:
        graph, anchor = region.graph, region.anchor_outputs[0]
        known = self.find(anchor, graph)
        if side != "epilogue" or known is None or not known[0].rows_kept or not is_pointwise(graph, node):
            return False
        output, value = graph.value(anchor), graph.value(node)
        if (value.shape, value.small_shape) != (output.shape, output.small_shape):
            return False
        others = (graph.value(other) for other in node.all_input_nodes if other not in region.nodes)
        return all(place_of(other, output) is not None for other in others)

    def structures(self, region: Region) -> tuple[str, ...]:
        return likely_structures(region.facts, NOMINAL)

    def default(self, region: Region, structure: str, policy: Policy, device: Device) -> RegionSpec:
        return RegionSpec(
            name=region.name,
            kind=self.name,
            facts=dict(region.facts),
            **decide(region.facts, structure, policy, device),
        )

    def emit(self, region: Region, spec: RegionSpec, policy: Policy) -> str:
        known = self.find(region.anchor_outputs[0], region.graph)
        if known is None:
            raise ValueError(f"{region.name}: not a matrix product")
        return write(region, spec, known[0])

    def moves(
        self, spec: RegionSpec, group: Group, profile: StaticProfile | None, device: Device, workload: Workload
    ) -> list[Move]:
        return gemm_moves.moves(spec, group, profile, device)


KINDS = (Gemm(),)
