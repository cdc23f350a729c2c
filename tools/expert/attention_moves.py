"""Expert rules for attention: what to change when the profile of its kernel says so."""

from egg.state.device import Device
from egg.state.evaluation import Launch, StaticProfile
from egg.state.stage import Group
from egg.tools.expert.kinds import launches_of
from egg.tools.expert.spec import Move, RegionSpec


def attention_moves(spec: RegionSpec, group: Group, profile: StaticProfile | None, device: Device) -> list[Move]:
    """Single changes within the group, best first."""
    launches = [launch for launch in launches_of(profile, spec) if launch.kernel == f"{spec.name}_kernel"]
    main = launches[0] if launches else None
    rules = {"structure": _structure, "mapping": _mapping, "tiling": _tiling, "memory": _memory}
    return sorted(rules[group](spec, main, device), key=lambda move: -move.expected_gain)


def _structure(spec: RegionSpec, main: Launch | None, device: Device) -> list[Move]:
    split = spec.structure["name"] == "flash_split_kv"
    facts = spec.facts
    programs = facts["batches"] * facts["heads"] * -(-facts["queries"] // spec.tiling["BLOCK_M"])
    if not split and programs * 2 <= device.multiprocessors and facts["keys"] >= 512:
        why = f"{programs} programs for {device.multiprocessors} multiprocessors: only the keys are left to divide"
        splits = min(64, max(2, 2 * device.multiprocessors // programs))
        along = {"mapping": {"splits": splits}}
        return [spec.move("structure", {"name": "flash_split_kv"}, why, "occupancy", 0.4, along)]
    if split and programs >= 2 * device.multiprocessors:
        why = "queries and heads alone fill the GPU: the partial results cost traffic and a second launch for nothing"
        return [spec.move("structure", {"name": "flash"}, why, "memory", 0.15)]
    return []


def _mapping(spec: RegionSpec, main: Launch | None, device: Device) -> list[Move]:
    moves = []
    mapping, facts = spec.mapping, spec.facts
    if spec.structure["name"] == "flash_split_kv" and main:
        splits = mapping["splits"]
        if main.waves < 0.75 and facts["keys"] >= 2 * splits * spec.tiling["BLOCK_N"]:
            why = f"{main.waves:.2f} waves: multiprocessors stand idle"
            moves.append(spec.move("mapping", {"splits": 2 * splits}, why, "occupancy", 0.25))
        if main.waves > 2 and splits > 2:
            why = f"{main.waves:.1f} waves already; fewer parts write fewer partial results"
            moves.append(spec.move("mapping", {"splits": splits // 2}, why, "memory", 0.1))
    if facts["causal"] and not mapping["longest_first"]:
        why = "a late block of rows sees most keys; started last, it runs alone at the end"
        moves.append(spec.move("mapping", {"longest_first": True}, why, "latency", 0.1))
    keys_bytes = 2 * facts["keys"] * facts["head"] * (4 if facts["dtype"] == "float32" else 2)
    if mapping["grid"] == "blocks_fastest" and facts["causal"] and facts["heads"] * facts["batches"] > 1:
        resident = keys_bytes * min(facts["heads"] * facts["batches"], 4 * device.multiprocessors)
        if resident < device.l2_bytes // 2:
            why = "equally long blocks of all heads run together, so the last wave is even; their keys fit into L2"
            moves.append(spec.move("mapping", {"grid": "heads_fastest"}, why, "latency", 0.05))
    elif mapping["grid"] == "heads_fastest" and keys_bytes * device.multiprocessors > device.l2_bytes:
        why = "neighbouring programs should share one head's keys: those of all heads do not fit into L2"
        moves.append(spec.move("mapping", {"grid": "blocks_fastest"}, why, "memory", 0.1))
    return moves


def _tiling(spec: RegionSpec, main: Launch | None, device: Device) -> list[Move]:
    moves = []
    block_m, block_n = spec.tiling["BLOCK_M"], spec.tiling["BLOCK_N"]
    fp32 = spec.facts["dtype"] == "float32"
    if main and main.spills and block_n > 16:
        why = f"{main.spills} bytes a thread are spilled in the loop"
        moves.append(spec.move("tiling", {"BLOCK_N": block_n // 2}, why, "spills", 0.3))
    if main and main.spills and block_m > 64:
        why = f"{main.spills} bytes a thread are spilled in the loop"
        moves.append(spec.move("tiling", {"BLOCK_M": block_m // 2, "num_warps": 4}, why, "spills", 0.25))
    if main and not main.spills and main.occupancy < 0.25 and block_n > 16:
        why = f"occupancy {main.occupancy:.0%} bounded by {main.limiter}: latency-bound, more blocks hide it"
        moves.append(spec.move("tiling", {"BLOCK_N": block_n // 2}, why, "latency", 0.12 if fp32 else 0.03))
    if main and (bound := _registers_of_one_more(main, device)) and "maxnreg" not in spec.tiling and not device.amd:
        why = f"{main.registers} registers: with {bound} one more block fits a multiprocessor"
        moves.append(spec.move("tiling", {"maxnreg": bound}, why, "occupancy", 0.15))
    if fp32 and block_m == 64 and spec.facts["queries"] >= 1024:
        why = "a taller tile of 8 warps reads and splits each block of keys for twice the rows"
        moves.append(spec.move("tiling", {"BLOCK_M": 128, "num_warps": 8}, why, "compute", 0.08))
    if main and not fp32 and block_m == 128 and main.limiter == "registers" and main.occupancy < 0.15:
        why = "blocks of 4 warps: two of them on a multiprocessor wait at different times"
        moves.append(spec.move("tiling", {"BLOCK_M": 64, "num_warps": 4}, why, "latency", 0.06))
    # fp32 operands are split in registers, so a tile twice as wide takes nearly twice as many
    roomy = main is not None and not main.spills and main.registers <= (110 if fp32 else 150)
    if roomy and block_n < 128:
        why = f"{main.registers if main else 0} registers: room for fewer, longer steps between maxima"
        moves.append(spec.move("tiling", {"BLOCK_N": 2 * block_n}, why, "latency", 0.08))
    if roomy and not fp32 and block_m == 64 and spec.facts["queries"] >= 1024:
        why = "a taller tile reads the keys from L2 half as often"
        moves.append(spec.move("tiling", {"BLOCK_M": 128, "num_warps": 8}, why, "memory", 0.1))
    if spec.tiling["pieces"] == 1 and spec.facts["head"] in (80, 96):
        why = "two dots (64 and the rest) do no work on padding"
        moves.append(spec.move("tiling", {"pieces": 2}, why, "compute", 0.2))
    return moves


def _registers_of_one_more(main: Launch, device: Device) -> int:
    """Registers a thread with which one more block fits, if that is a tenth fewer at most; else 0."""
    lanes = 32 * main.warps
    blocks = device.registers_sm // (-(-main.registers // 8) * 8 * lanes)
    bound = device.registers_sm // ((blocks + 1) * lanes) // 8 * 8
    room = (blocks + 1) * (main.shared_bytes + 1024) <= device.shared_bytes_sm and main.limiter == "registers"
    return bound if room and 0.9 * main.registers <= bound < main.registers else 0


def _memory(spec: RegionSpec, main: Launch | None, device: Device) -> list[Move]:
    if main is None:
        return []
    moves = []
    stages = spec.memory["num_stages"]
    if main.limiter == "shared" and stages > 1:
        why = f"{main.shared_bytes >> 10} KiB of shared memory a block bound the occupancy to {main.occupancy:.0%}"
        moves.append(spec.move("memory", {"num_stages": stages - 1}, why, "occupancy", 0.12))
    one_more = main.shared_bytes + main.shared_bytes // max(stages, 1)
    blocks = max(1, round(main.occupancy * device.threads_sm / 32 / main.warps))
    fits = one_more <= device.shared_bytes and blocks * (one_more + 1024) <= device.shared_bytes_sm
    if main.limiter != "shared" and stages < 4 and fits:
        why = f"{main.limiter} bound the occupancy, shared memory is free: fetch keys one step further ahead"
        moves.append(spec.move("memory", {"num_stages": stages + 1}, why, "latency", 0.08))
    return moves
