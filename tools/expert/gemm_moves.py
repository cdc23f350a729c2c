"""Rules for changing a matrix product, one decision at a time. Pure: they see the spec, the static profile, the GPU."""

from math import ceil

from egg.state.device import Device
from egg.state.evaluation import Launch, StaticProfile
from egg.state.settings import Policy
from egg.state.stage import Group
from egg.tools.expert.gemm_decide import decide, product_of
from egg.tools.expert.gemm_plan import Method, Product, Tile, candidates, method_of, seconds, shared_bytes
from egg.tools.expert.kinds import launches_of
from egg.tools.expert.spec import Move, RegionSpec

WORTH = 0.02
"""Smallest predicted gain that is proposed."""


def moves(spec: RegionSpec, group: Group, profile: StaticProfile | None, device: Device) -> list[Move]:
    """Single changes within the group, best first."""
    launches = [launch for launch in launches_of(profile, spec) if launch.kernel.endswith("_product")]
    state = _State(spec, launches[0] if launches else None, device)
    rules = {"structure": _structure, "mapping": _mapping, "tiling": _tiling, "memory": _memory}[group]
    return sorted(rules(state), key=lambda move: -move.expected_gain)


class _State:
    """The decisions so far, as the plan's terms."""

    def __init__(self, spec: RegionSpec, launch: Launch | None, device: Device) -> None:
        self.spec, self.launch, self.device = spec, launch, device
        self.name: str = spec.structure["name"]
        self.method: Method = method_of(spec.structure)
        self.product: Product = product_of(spec.facts)
        self.tile = Tile.of(spec.tiling, spec.memory)
        self.chunks = int(spec.mapping.get("CHUNKS", 2)) if self.name == "split_k" else 1
        self.now = self.time(self.tile, self.chunks)

    def time(self, tile: Tile, chunks: int) -> float:
        return seconds(self.product, self.method, tile, self.device, chunks)

    def gain(self, tile: Tile, chunks: int) -> float:
        return round(1.0 - self.time(tile, chunks) / self.now, 3)

    @property
    def programs(self) -> int:
        return self.programs_of(self.tile)

    def programs_of(self, tile: Tile) -> int:
        return self.product.batch * ceil(self.product.m / tile.m) * ceil(self.product.n / tile.n) * self.chunks

    def fits(self, tile: Tile) -> bool:
        return shared_bytes(self.method, tile) <= self.device.shared_bytes - 1024


def _structure(state: _State) -> list[Move]:
    policy = Policy.TF32 if state.method in ("tf32", "fp16x1") else Policy.STOCK
    reasons = {
        "tiled": ("one kernel that reads the operands as they are: no second pass over them", "launch"),
        "split_k": (
            f"{state.programs} programs for {state.device.multiprocessors} multiprocessors: share out K too",
            "occupancy",
        ),
        "scaled_fp16": ("fp16 products run at twice the tf32 rate and need no (N, K) order", "compute"),
    }
    found = []
    for name, (why, bottleneck) in reasons.items():
        if name == state.name or (name == "scaled_fp16" and state.spec.facts["dtype"] != "float32"):
            continue
        if name == "split_k" and state.product.k < 512:
            continue
        chosen = decide(state.spec.facts, name, policy, state.device)
        tile, chunks = Tile.of(chosen["tiling"], chosen["memory"]), chosen["mapping"].get("CHUNKS", 1)
        other: Method = chosen["structure"]["method"]
        gain = 1.0 - seconds(state.product, other, tile, state.device, chunks) / state.now
        if gain > WORTH:
            rest = {group: chosen[group] for group in ("mapping", "tiling", "memory")}
            found.append(state.spec.move("structure", chosen["structure"], why, bottleneck, gain, rest))
    return found


def _mapping(state: _State) -> list[Move]:
    found, sms = [], state.device.multiprocessors
    if state.name == "split_k":
        for chunks in {state.chunks // 2, state.chunks * 2, state.chunks * 4} - {0, 1}:
            gain = state.gain(state.tile, chunks)
            if gain > WORTH and state.product.k // chunks >= 2 * state.tile.k:
                why = f"{state.programs} programs for {sms} multiprocessors; {state.chunks} partial sums to add"
                found.append(state.spec.move("mapping", {"CHUNKS": chunks}, why, "occupancy", gain))
    rows = ceil(state.product.m / state.tile.m)
    columns = ceil(state.product.n / state.tile.n)
    group = int(state.spec.mapping["GROUP_M"])
    if rows * columns > 2 * sms:
        for other in (4, 8, 16):
            if other != group and other <= rows:
                across = ceil(sms / other)
                why = f"programs at work together share {other} rows of tiles of a and {across} columns of b in L2"
                square = abs(other - across) < abs(group - ceil(sms / group))
                found.append(state.spec.move("mapping", {"GROUP_M": other}, why, "memory", 0.04 if square else 0.02))
    return found


def _tiling(state: _State) -> list[Move]:
    return [*_unspill(state), *_shapes(state), *_depths(state)]


def _unspill(state: _State) -> list[Move]:
    if not (state.launch and state.launch.spills):
        return []
    tile, found = state.tile, []
    why = f"{state.launch.spills} bytes a thread spill: accumulator and operands need more registers than there are"
    if tile.warps < 8 and tile.m * tile.n >= 64 * 64:
        found.append(state.spec.move("tiling", {"num_warps": 2 * tile.warps}, why, "spills", 0.3))
    if tile.k >= 32:
        found.append(state.spec.move("tiling", {"BLOCK_K": tile.k // 2}, why, "spills", 0.25))
    if tile.n >= 32:
        found.append(state.spec.move("tiling", {"BLOCK_N": tile.n // 2}, why, "spills", 0.2))
    return found


def _shapes(state: _State) -> list[Move]:
    """Other tiles, also those predicted a little slower: the prediction is rough."""
    found, sms = [], state.device.multiprocessors
    for other in candidates(state.product, state.method, state.device):
        changed = other._replace(k=state.tile.k, stages=state.tile.stages)
        gain = state.gain(changed, state.chunks)
        if (other.m, other.n) == (state.tile.m, state.tile.n) or not state.fits(changed) or gain < -0.15:
            continue
        programs = state.programs_of(changed)
        why = (
            f"{programs} programs, not {state.programs}, for {sms} multiprocessors; "
            f"each reads {other.m} + {other.n} lines for {other.m} x {other.n} results"
        )
        values = {"BLOCK_M": other.m, "BLOCK_N": other.n, "num_warps": other.warps}
        bottleneck = "occupancy" if programs > state.programs else "compute"
        least = 0.04 if other.m * other.n > state.tile.m * state.tile.n else 0.02
        found.append(state.spec.move("tiling", values, why, bottleneck, max(gain, least)))
    return sorted(found, key=lambda move: -move.expected_gain)[:3]


def _depths(state: _State) -> list[Move]:
    """BLOCK_K and warps, where registers are left."""
    found, tile = [], state.tile
    if state.launch and (state.launch.registers > 168 or state.launch.spills):
        return []
    deeper = tile._replace(k=2 * tile.k)
    if deeper.k <= min(128, state.product.k) and state.fits(deeper):
        why = f"{ceil(state.product.k / tile.k)} turns of the loop: half as many waits, for twice the shared memory"
        found.append(state.spec.move("tiling", {"BLOCK_K": deeper.k}, why, "latency", 0.03))
    if tile.warps == 4 and tile.m * tile.n >= 64 * 64:
        why = "8 warps hide more of the latency between dots; 16 would split them over two layouts"
        found.append(state.spec.move("tiling", {"num_warps": 8}, why, "latency", 0.02))
    return found


def _memory(state: _State) -> list[Move]:
    return [*_stages(state), *_order(state)]


def _stages(state: _State) -> list[Move]:
    found, tile, sm = [], state.tile, state.device.shared_bytes_sm
    turns = ceil(state.product.k / state.chunks / tile.k)
    used = shared_bytes(state.method, tile)
    for stages in (tile.stages + 1, tile.stages - 1):
        other = tile._replace(stages=stages)
        wanted = shared_bytes(state.method, other)
        if not 2 <= stages <= min(5, turns) or not state.fits(other):
            continue
        before, after = sm // used, sm // wanted
        if stages > tile.stages:
            why = f"{stages} blocks of K under way hide a longer wait; {wanted >> 10} KiB a program"
            gain = 0.04 if after == before else 0.02
            found.append(state.spec.move("memory", {"num_stages": stages}, why, "latency", gain))
        elif after > before and (state.launch is None or state.launch.limiter == "shared"):
            why = f"{wanted >> 10} KiB in place of {used >> 10}: {after} programs fit a multiprocessor, not {before}"
            found.append(state.spec.move("memory", {"num_stages": stages}, why, "occupancy", 0.05))
    return found


def _order(state: _State) -> list[Move]:
    """wgmma takes fp32 only along K."""
    if state.method not in ("tf32", "tf32x3") or state.spec.facts["b_along_k"]:
        return []
    order = state.spec.memory.get("b_order")
    if order == "as_is" and state.product.m >= 64:
        why = "wgmma takes fp32 only along K: one copy of b in that order, against the older, slower instruction"
        gain = 0.4 if state.launch is None or state.launch.tensor_core == "mma" else 0.1
        return [state.spec.move("memory", {"b_order": "k_contiguous"}, why, "compute", gain)]
    if order == "k_contiguous" and state.product.m < 512:
        why = "the copy of b reads and writes it once more, for few rows that use it"
        return [state.spec.move("memory", {"b_order": "as_is"}, why, "memory", 0.1)]
    return []
