"""Rules for changing a region of rows: one change at a time, each with its reason. Pure, and without torch."""

from dataclasses import dataclass

from egg.state.device import Device
from egg.state.evaluation import Launch, StaticProfile
from egg.state.stage import Group
from egg.tools.expert.kinds import launches_of
from egg.tools.expert.rows.decide import AT_MOST, IN_REGISTERS, STEP, most_splits, power_of_two, programs, structures
from egg.tools.expert.spec import Move, RegionSpec

VECTOR_BYTES = 16
THREADS = 1024
"""Of a block at most."""


@dataclass(frozen=True)
class View:
    """A spec with what its profile says; the launch that matters is the longest."""

    spec: RegionSpec
    device: Device
    launch: Launch | None

    @property
    def structure(self) -> str:
        return str(self.spec.structure["name"])

    @property
    def whole(self) -> bool:
        return self.structure == "one_pass"

    @property
    def warps(self) -> int:
        return int(self.spec.tiling["num_warps"])

    @property
    def columns(self) -> bool:
        return bool(self.spec.facts["form"] == "columns")

    @property
    def tile(self) -> int:
        """Elements of a tile."""
        cols = power_of_two(self.spec.facts["cols"])
        block = cols if self.whole else self.spec.tiling["BLOCK"]
        return int(block * self.spec.tiling.get("LANES", 1) * self.spec.mapping.get("ROWS", 1))

    @property
    def each(self) -> float:
        """Elements a thread holds of each operand."""
        return self.tile / (self.device.warp * self.warps)

    @property
    def most_warps(self) -> int:
        """Of a block."""
        return THREADS // self.device.warp

    @property
    def spills(self) -> int:
        return self.launch.spills if self.launch else 0

    @property
    def starved(self) -> bool:
        """Whether registers keep the multiprocessor half empty."""
        return bool(self.launch and self.launch.limiter == "registers" and self.launch.occupancy <= 0.5)


def moves(spec: RegionSpec, group: Group, profile: StaticProfile | None, device: Device) -> list[Move]:
    """Single changes within the group, those with most to gain first."""
    launches = launches_of(profile, spec)
    view = View(spec, device, max(launches, key=lambda launch: launch.estimate_ms) if launches else None)
    rules = {"structure": _structure, "mapping": _mapping, "tiling": _tiling, "memory": _memory}
    found = [move for move in rules[group](view) if move.edits[spec.name][group]]
    return sorted(found, key=lambda move: -move.expected_gain)


def _structure(view: View) -> list[Move]:
    facts, found = view.spec.facts, []

    def to(name: str, why: str, bottleneck: str, gain: float) -> None:
        if name in structures(facts):
            found.append(view.spec.move("structure", {"name": name}, why, bottleneck, gain))

    if view.whole and view.spills:
        to("online", f"a row in registers spills {view.spills} bytes a thread: read it piece by piece", "spills", 0.3)
    elif view.whole and not facts["maps"] and view.starved:
        to("online", "a running sum needs a few registers, not the whole row", "occupancy", 0.1)
    if not view.whole and facts["readings"] > 1 and not view.columns and facts["cols"] <= AT_MOST:
        gain = 0.2 if facts["cols"] <= IN_REGISTERS else 0.1
        to("one_pass", f"the row is read {facts['readings']} times; in registers once is enough", "memory", gain)
    if not view.whole and facts["readings"] > 1 and view.columns:
        to("one_pass", f"the row is read {facts['readings']} times; in registers once is enough", "memory", 0.15)
    if view.structure == "two_pass":
        to("online", "Welford's update or the online softmax saves one reading of the row", "memory", 0.2)
    if view.structure != "split" and programs(facts) < view.device.multiprocessors:
        gain = min(0.5, 1 - programs(facts) / view.device.multiprocessors)
        why = f"{programs(facts)} rows cannot keep {view.device.multiprocessors} multiprocessors busy"
        to("split", why + ": share each out", "latency", gain)
    if view.structure == "split" and programs(facts) >= 4 * view.device.multiprocessors:
        to("online", "there are rows enough: parts only cost another kernel", "launch", 0.1)
    return found


def _mapping(view: View) -> list[Move]:
    spec, facts, found = view.spec, view.spec.facts, []
    if view.structure == "split":
        return _splits(view)
    if view.columns:
        return []
    rows = int(spec.mapping.get("ROWS", 1))
    enough = facts["rows"] // (2 * rows) >= 2 * view.device.multiprocessors
    if view.each <= VECTOR_BYTES / facts["item_bytes"] and facts["cols"] <= 2 * STEP and enough and not view.spills:
        why = f"{view.each:g} elements a thread: more rows a program keep more loads in flight, with fewer programs"
        found.append(view.spec.move("mapping", {"ROWS": 2 * rows}, why, "latency", 0.1 if view.each < 4 else 0.03))
    if rows > 1 and (view.spills or view.starved or view.each > 16):
        why = f"{rows} rows a program take too many registers"
        found.append(view.spec.move("mapping", {"ROWS": rows // 2}, why, "occupancy", 0.1))
    long_grid = facts["rows"] // rows >= 8 * view.device.multiprocessors
    if view.whole and not spec.mapping.get("persistent") and long_grid:
        shared = "what all rows share is loaded once, and " if facts["shared"] else ""
        for count in (2, 4):
            if view.warps * count <= view.device.threads_sm // view.device.warp:
                why = f"{shared}{count} programs a multiprocessor start once and walk over the rows"
                values = {"persistent": True, "programs_per_sm": count}
                found.append(view.spec.move("mapping", values, why, "latency", 0.05 if facts["shared"] else 0.03))
    return found


def _splits(view: View) -> list[Move]:
    spec, facts, found = view.spec, view.spec.facts, []
    splits, block = int(spec.mapping["SPLITS"]), int(spec.tiling["BLOCK"])
    tiles = facts["rows"] * -(-facts["lanes"] // spec.tiling.get("LANES", 1)) * splits
    if (
        tiles < 8 * view.device.multiprocessors
        and splits * block * 2 <= facts["cols"]
        and 2 * splits <= most_splits(spec.tiling)
    ):
        why = f"{tiles} programs for {view.device.multiprocessors} multiprocessors"
        found.append(view.spec.move("mapping", {"SPLITS": 2 * splits}, why, "occupancy", 0.1))
    if splits > 2 and tiles >= 2 * view.device.multiprocessors:
        why = "fewer parts to put together again"
        found.append(view.spec.move("mapping", {"SPLITS": splits // 2}, why, "latency", 0.04))
    return found


def _tiling(view: View) -> list[Move]:
    tiling, found = view.spec.tiling, []
    vector = VECTOR_BYTES // view.spec.facts["item_bytes"]
    if view.warps < view.most_warps and (view.spills or view.starved or view.each > vector):
        if view.spills:
            why, gain = f"{view.spills} bytes a thread spill", 0.25
        else:
            why, gain = f"{view.each:g} elements a thread", 0.1 if view.each > 2 * vector else 0.05
        why += ": twice the warps halve what each thread holds and keep more loads in flight"
        bottleneck = "spills" if view.spills else "memory"
        found.append(view.spec.move("tiling", {"num_warps": 2 * view.warps}, why, bottleneck, gain))
    if view.warps > 1 and view.each <= vector / 2:
        why = f"{view.each:g} elements a thread cannot fill a {VECTOR_BYTES}-byte load, and warps cost an exchange"
        found.append(view.spec.move("tiling", {"num_warps": view.warps // 2}, why, "latency", 0.08))
    elif view.warps > 4 and view.each <= 2 * vector and not view.spills:
        why = "fewer warps exchange less when the row is put together"
        found.append(view.spec.move("tiling", {"num_warps": view.warps // 2}, why, "latency", 0.03))
    for name in ("BLOCK", "LANES"):
        if name in tiling:
            found += _lengths(view, name)
    return found


def _lengths(view: View, name: str) -> list[Move]:
    facts, now, found = view.spec.facts, int(view.spec.tiling[name]), []
    limit = power_of_two(facts["cols"] if name == "BLOCK" else facts["lanes"])
    warps = view.warps
    if now < limit and 2 * view.tile <= 2 * STEP and not view.spills and not view.starved:
        values = {name: 2 * now, "num_warps": min(view.most_warps, 2 * warps)}
        why = "longer runs of neighbouring elements" if name == "LANES" else "fewer, longer steps along the row"
        found.append(view.spec.move("tiling", values, why, "memory", 0.05))
    if now > (32 if name == "LANES" else 1) and view.tile >= 512:
        values = {name: now // 2, "num_warps": max(1, warps // 2)}
        if view.columns and name == "BLOCK":
            values = {name: now // 2}
        why = "smaller programs: more of them at once, and a shorter last wave"
        found.append(view.spec.move("tiling", values, why, "occupancy", 0.1 if view.spills else 0.04))
    return found


def _memory(view: View) -> list[Move]:
    spec, facts, found = view.spec, view.spec.facts, []
    loops = not view.whole or bool(spec.mapping.get("persistent"))
    stages = int(spec.memory.get("num_stages", 1))
    if loops and view.structure != "split" and stages < 4:
        why = "the next step's loads can be under way while this one is worked on"
        found.append(view.spec.move("memory", {"num_stages": 2 if stages == 1 else stages + 1}, why, "latency", 0.05))
    if not view.whole and facts["readings"] > 1 and spec.memory.get("eviction") == "none":
        resident = max(1, round(16 / view.warps)) * view.device.multiprocessors
        held = resident * facts["cols"] * facts["item_bytes"] * facts["inputs"]
        if held <= view.device.l2_bytes:
            why = "the rows being read fit the L2 cache: keep them for the last reading, drop them after it"
            found.append(view.spec.move("memory", {"eviction": "keep"}, why, "memory", 0.06))
    if spec.memory.get("eviction") == "keep":
        why = "hints cost a few per cent where the cache keeps the row by itself"
        found.append(view.spec.move("memory", {"eviction": "none"}, why, "memory", 0.02))
    return found
