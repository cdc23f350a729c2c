"""Expert rules for running sums: rows enough for the GPU, and no program that waits for its carry alone."""

from egg.state.device import Device
from egg.state.evaluation import StaticProfile
from egg.state.stage import Group
from egg.tools.expert.kinds import launches_of
from egg.tools.expert.spec import Move, RegionSpec

ROWS, CHUNKS = "scan_rows", "scan_chunks"


def scan_moves(spec: RegionSpec, group: Group, profile: StaticProfile | None, device: Device) -> list[Move]:
    """Single changes within the group, best first."""
    facts = spec.facts
    launches = launches_of(profile, spec)
    main = next((launch for launch in launches if launch.kernel == f"{spec.name}_kernel"), None)

    found = []
    chunked = spec.structure["name"] == CHUNKS
    if group == "structure" and not chunked and facts["outer"] < device.multiprocessors and facts["length"] >= 16384:
        why = f"{facts['outer']} rows for {device.multiprocessors} multiprocessors: cut the rows, add the sums before"
        found.append(spec.move(group, {"name": CHUNKS}, why, "occupancy", 0.4))
    if group == "structure" and chunked and facts["outer"] >= 4 * device.multiprocessors:
        why = "rows alone fill the GPU; one pass reads the input once instead of twice"
        found.append(spec.move(group, {"name": ROWS}, why, "memory", 0.3))
    if group == "mapping" and chunked and facts["outer"] * spec.mapping.get("chunks", 8) < 2 * device.multiprocessors:
        why = "fewer programs than the GPU holds"
        found.append(spec.move(group, {"chunks": 2 * spec.mapping.get("chunks", 8)}, why, "occupancy", 0.2))
    if group == "tiling":
        block, warps = spec.tiling["BLOCK"], spec.tiling["num_warps"]
        if main and main.spills:
            found.append(
                spec.move(group, {"BLOCK": block // 2}, f"{main.spills} bytes a thread spilled", "spills", 0.3)
            )
        many = facts["outer"] >= 8 * device.multiprocessors
        if block < facts["length"] and block * spec.tiling.get("LANES", 1) < 8192:
            wider = {"BLOCK": 2 * block, "num_warps": min(16, 2 * warps)}
            why = "fewer steps, each of which waits for the carry"
            found.append(spec.move(group, wider, why, "latency", 0.03 if many else 0.08))
        if block > 256 and (many or (main and main.occupancy < 0.5)):
            smaller = {"BLOCK": block // 2, "num_warps": max(1, warps // 2)}
            why = "more rows at once on a multiprocessor wait for their carries at different times"
            found.append(spec.move(group, smaller, why, "occupancy", 0.06))
    stages, steps = spec.memory.get("num_stages", 1), -(-facts["length"] // spec.tiling["BLOCK"])
    if group == "memory" and stages < 3 and steps >= 4:
        why = f"{steps} steps a row: the next values can be under way while these are summed"
        found.append(spec.move(group, {"num_stages": stages + 1}, why, "latency", 0.05))
    return found
