"""Rules for tuning a pointwise region: keep enough bytes in flight, and no more programs than needed."""

from egg.state.device import Device
from egg.state.evaluation import StaticProfile
from egg.state.stage import Group
from egg.tools.expert.spec import Move, RegionSpec

VECTOR_BYTES = 16


def moves(spec: RegionSpec, group: Group, profile: StaticProfile | None, device: Device) -> list[Move]:
    """Single changes within the group, best first."""
    if group == "structure":
        return _structure(spec)
    if group == "mapping":
        return _mapping(spec, device)
    if group == "tiling":
        return _tiling(spec, device)
    return _memory(spec)


def _structure(spec: RegionSpec) -> list[Move]:
    rows, row = spec.structure.get("name") == "fused_rowwise", int(spec.facts["row"])
    if not spec.facts.get("broadcast"):
        return []
    if rows and row < 256:
        why = f"a row of {row} elements leaves most lanes of a program idle"
        return [spec.move("structure", {"name": "fused"}, why, "latency", 0.2)]
    if not rows and row >= 1024:
        why = "the position along the broadcast axes is one number a program, not a division for every element"
        return [spec.move("structure", {"name": "fused_rowwise"}, why, "compute", 0.1)]
    return []


def _mapping(spec: RegionSpec, device: Device) -> list[Move]:
    if spec.structure.get("name") == "fused_rowwise":
        return []
    now = int(spec.mapping.get("programs_per_sm", 0))
    blocks = int(spec.facts["elements"]) // int(spec.tiling["BLOCK"])
    if now:
        return [
            spec.move("mapping", {"programs_per_sm": count}, "another number of resident programs", "occupancy", 0.03)
            for count in (16, 4)
            if count != now
        ]
    if blocks < 16 * device.multiprocessors:
        return []
    why = f"{blocks} short programs: persistent ones start once and walk over the blocks"
    return [spec.move("mapping", {"programs_per_sm": count}, why, "latency", 0.05) for count in (8, 16)]


def _tiling(spec: RegionSpec, device: Device) -> list[Move]:
    item, block, warps = (int(n) for n in (spec.facts["item_bytes"], spec.tiling["BLOCK"], spec.tiling["num_warps"]))
    width = int(spec.facts["row"]) if spec.structure.get("name") == "fused_rowwise" else int(spec.facts["elements"])
    found: list[Move] = []
    lanes = 32 * warps
    wanted = VECTOR_BYTES // item
    if block // lanes < wanted and block * 2 <= 2 * width:
        why = f"{block // lanes} elements a lane cannot use {VECTOR_BYTES}-byte loads"
        found.append(spec.move("tiling", {"BLOCK": lanes * wanted}, why, "memory", 0.1))
    if block // lanes > 2 * wanted and warps < 16:
        why = f"{block // lanes} elements a lane: more warps keep more loads in flight"
        found.append(spec.move("tiling", {"num_warps": min(16, block // 32 // wanted or 1)}, why, "memory", 0.05))
    if 2 * block <= width and int(spec.facts["elements"]) // (2 * block) >= 4 * device.multiprocessors and block < 8192:
        why = "two wide loads a lane under way at once, and fewer programs to start"
        larger = {"BLOCK": 2 * block, "num_warps": warps if block <= lanes * wanted else min(16, 2 * warps)}
        found.append(spec.move("tiling", larger, why, "memory", 0.05))
    if block > 256:
        why = "smaller programs spread the tail of the grid more evenly"
        smaller = {"BLOCK": block // 2, "num_warps": max(1, warps // 2)}
        found.append(spec.move("tiling", smaller, why, "occupancy", 0.03))
    return found


def _memory(spec: RegionSpec) -> list[Move]:
    found: list[Move] = []
    if spec.facts.get("broadcast") and not spec.memory.get("keep_broadcast"):
        why = "the repeated operand is read by every program: ask L2 to evict it last"
        found.append(spec.move("memory", {"keep_broadcast": True}, why, "memory", 0.02))
    if spec.mapping.get("programs_per_sm") and int(spec.memory.get("num_stages", 1)) < 3:
        why = "the persistent loop can fetch the next block while it works on this one"
        found.append(spec.move("memory", {"num_stages": 3}, why, "latency", 0.05))
    return found
