"""Expert rules for the cross-entropy: it reads every score once, so all that counts is bytes in flight."""

from egg.state.device import Device
from egg.state.evaluation import StaticProfile
from egg.state.stage import Group
from egg.tools.expert.kinds import launches_of
from egg.tools.expert.spec import Move, RegionSpec


def cross_entropy_moves(spec: RegionSpec, group: Group, profile: StaticProfile | None, device: Device) -> list[Move]:
    """Single changes within the group, best first."""
    rules = {"structure": _structure, "mapping": _mapping, "tiling": _tiling, "memory": _memory}
    return sorted(rules[group](spec, profile, device), key=lambda move: -move.expected_gain)


def _structure(spec: RegionSpec, profile: StaticProfile | None, device: Device) -> list[Move]:
    split = spec.structure["name"] == "split_classes"
    rows, classes = spec.facts["rows"], spec.facts["classes"]
    if not split and rows <= device.multiprocessors and classes >= 4 * spec.tiling["BLOCK_C"]:
        why = f"{rows} rows for {device.multiprocessors} multiprocessors: only the classes are left to divide"
        return [spec.move("structure", {"name": "split_classes"}, why, "occupancy", 0.4)]
    if split and rows >= 4 * device.multiprocessors:
        why = "rows alone fill the GPU; the partial results cost a launch"
        return [spec.move("structure", {"name": "online_rows"}, why, "launch", 0.1)]
    return []


def _mapping(spec: RegionSpec, profile: StaticProfile | None, device: Device) -> list[Move]:
    moves = []
    rows, block_r = spec.facts["rows"], spec.mapping["BLOCK_R"]
    programs = -(-rows // block_r)
    if block_r > 1 and programs < 2 * device.multiprocessors and spec.facts["inner"] == 1:
        why = f"{programs} programs leave multiprocessors idle: fewer rows a program"
        moves.append(spec.move("mapping", {"BLOCK_R": block_r // 2}, why, "occupancy", 0.2))
    if programs > 64 * device.multiprocessors and block_r * spec.tiling["BLOCK_C"] < 8192:
        why = f"{programs} short programs: more rows each, fewer partial sums to add"
        moves.append(spec.move("mapping", {"BLOCK_R": 2 * block_r}, why, "latency", 0.08))
    if (splits := spec.mapping.get("splits")) and programs * splits < 2 * device.multiprocessors and splits < 64:
        why = f"{programs * splits} programs leave multiprocessors idle"
        moves.append(spec.move("mapping", {"splits": 2 * splits}, why, "occupancy", 0.2))
    return moves


def _tiling(spec: RegionSpec, profile: StaticProfile | None, device: Device) -> list[Move]:
    moves = []
    block_c, warps = spec.tiling["BLOCK_C"], spec.tiling["num_warps"]
    elements = block_c * spec.mapping["BLOCK_R"]
    sweeps = [launch for launch in launches_of(profile, spec) if not launch.kernel.endswith("_total_kernel")]
    main = max(sweeps, key=lambda launch: launch.bytes, default=None)
    if main and main.spills:
        why = f"{main.spills} bytes a thread spilled: the running maximum and sum take two registers a score"
        moves.append(spec.move("tiling", {"BLOCK_C": block_c // 2}, why, "spills", 0.3))
    if elements // (32 * warps) > 8 and warps < 32:
        why = f"{elements // (32 * warps)} scores a lane: more warps with one or two wide loads each stream better"
        moves.append(spec.move("tiling", {"num_warps": 2 * warps}, why, "memory", 0.08))
    crowded = main is not None and main.occupancy <= 0.5
    if block_c < spec.facts["classes"] and elements // (32 * warps) < 32 and spec.facts["inner"] == 1:
        why = "more scores fetched a step, fewer steps"
        moves.append(spec.move("tiling", {"BLOCK_C": 2 * block_c}, why, "latency", 0.01 if crowded else 0.06))
    if block_c > 1024 and main and crowded:
        why = f"occupancy {main.occupancy:.0%} bounded by {main.limiter}: fewer scores a lane take fewer registers"
        moves.append(spec.move("tiling", {"BLOCK_C": block_c // 2}, why, "occupancy", 0.09))
    if block_c > 1024 and warps > 4:
        why = "smaller programs: more of them at once, and a row ends with a cheaper exchange"
        smaller = {"BLOCK_C": block_c // 2, "num_warps": warps // 2}
        moves.append(spec.move("tiling", smaller, why, "latency", 0.05))
    return moves


def _memory(spec: RegionSpec, profile: StaticProfile | None, device: Device) -> list[Move]:
    stages, steps = spec.memory["num_stages"], -(-spec.facts["classes"] // spec.tiling["BLOCK_C"])
    if stages > 2 or steps < 4:
        return []
    why = f"{steps} steps a row: the next scores can be under way while these are added up"
    return [spec.move("memory", {"num_stages": stages + 1}, why, "latency", 0.05)]
