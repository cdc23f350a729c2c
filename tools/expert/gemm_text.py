"""Writes a matrix-product region: tables, kernels and host function, from its decisions."""

from typing import Any

from egg.tools.expert import gemm_host_text as host
from egg.tools.expert import gemm_kernel_text as kernels
from egg.tools.expert.gemm_epilogue import Epilogue, out_name, write_epilogue
from egg.tools.expert.gemm_operands import Operands
from egg.tools.expert.gemm_plan import method_of
from egg.tools.expert.region import Region
from egg.tools.expert.spec import RegionSpec
from egg.tools.expert.template import meta_table, render

IMPORT_TMA = "from triton.tools.tensor_descriptor import TensorDescriptor\n"


def write(region: Region, spec: RegionSpec, found: Operands) -> str:
    """The region's source."""
    epilogue = write_epilogue(region, region.anchor_outputs[0], found)
    common = _common(region, spec, found, epilogue)
    parts = _halves(spec, common) if spec.structure["name"] == "scaled_fp16" else _tiled(spec, common)
    return "\n\n\n".join(part.strip("\n") for part in parts) + "\n"


def _tiled(spec: RegionSpec, common: dict[str, Any]) -> list[str]:
    name, split = spec.name, spec.structure["name"] == "split_k"
    precision = method_of(spec.structure)
    turned = common["int8"] and precision == "half" and spec.facts["b_along_k"]
    values = common | {
        "turned": turned,
        "down": "[None, :]" if turned else "[:, None]",
        "along": "[:, None]" if turned else "[None, :]",
        "split": split,
        "precision": None if precision == "half" else precision,
        "copy_b": spec.memory.get("b_order") == "k_contiguous",
    }
    tables = meta_table(name, _meta(spec))
    if split:
        tables += f"{name.upper()}_CHUNKS = {int(spec.mapping.get('CHUNKS', 2))}\n"
        tables += f"{name.upper()}_COMBINE = dict(BLOCK_M=16, BLOCK_N=64, num_warps=4)\n"
    product = values | {"pointers": "partial_ptr" if split else common["pointers"]}
    parts = [tables, render(kernels.ORDER, name=name)]
    parts += [render(kernels.TILED, **product)]
    parts += [render(kernels.COMBINE, **values)] if split else []
    return [*parts, render(host.TILED, **values)]


def _halves(spec: RegionSpec, common: dict[str, Any]) -> list[str]:
    name, low, tma = spec.name, method_of(spec.structure) == "fp16x3", spec.memory.get("loads") == "tma"
    halves = ("high", "low") if low else ("high",)
    names = [f"{side}_{half}" for side in "ab" for half in halves]
    values = common | {"low": low, "tma": tma, "halves": halves}
    tables = meta_table(name, _meta(spec))
    tables += f"{name.upper()}_SPLIT = dict(BLOCK_R=1, BLOCK_C={int(spec.tiling.get('SPLIT_C', 1024))}, num_warps=8)\n"
    tables += f"{name.upper()}_SPLIT_TRANSPOSED = dict(BLOCK_R=16, BLOCK_C=256, num_warps=8)\n"
    suffix = "tma" if tma else "ptr"
    return [
        *([IMPORT_TMA] if tma else []),
        tables,
        render(kernels.ORDER, name=name),
        render(kernels.SPLIT, **values),
        render(kernels.HALVES, **values, operands=", ".join(f"{operand}_{suffix}" for operand in names)),
        render(host.HALVES, **values, operands=names),
    ]


def _meta(spec: RegionSpec) -> dict[str, Any]:
    """Keyword arguments of the product kernel, in the order of the groups."""
    blocks = {name: spec.tiling[name] for name in ("BLOCK_M", "BLOCK_N", "BLOCK_K")}
    order = {"GROUP_M": spec.mapping["GROUP_M"]}
    return blocks | order | {"num_warps": spec.tiling["num_warps"], "num_stages": spec.memory["num_stages"]}


def _common(region: Region, spec: RegionSpec, found: Operands, epilogue: Epilogue) -> dict[str, Any]:
    outputs = region.outputs
    names = [out_name(i, len(outputs)) for i in range(len(outputs))]
    chain = ", ".join(region.graph.op(node).removeprefix("aten.") for node in region.epilogue)
    chain = f"bias, {chain}" if found.added is not None and chain else "bias" if found.added is not None else chain
    allocate = render(
        host.ALLOCATE,
        outputs=[(name, value.dtype) for name, value in zip(names, outputs, strict=True)],
        shape=found.shape,
    )
    size = found.product
    shape = f"{'batches of ' if found.batched else ''}({size.m}, {size.k}) @ ({size.k}, {size.n})"
    after = f", then {chain}" if chain else ""
    return {
        "name": region.name,
        "upper": region.name.upper(),
        "table": f"{region.name.upper()}_META",
        "parameters": region.parameters,
        "pointers": ", ".join(epilogue.parameters),
        "arguments": ", ".join(epilogue.arguments),
        "epilogue": epilogue.text,
        "tail": chain,
        "batched": found.batched,
        "int8": region.graph.dtype(found.b) == "int8",
        "operand": region.graph.dtype(found.a),
        "prepare": found.prepare,
        "allocate": allocate.rstrip("\n"),
        "returned": ", ".join(names),
        "summary": f"{shape} at full size{after}; products by {method_of(spec.structure)}.",
    }
