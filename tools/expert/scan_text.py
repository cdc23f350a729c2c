"""Triton for running sums along an axis, as templates; `before` and `after` are pointwise statements around the sum."""

from typing import Any

from egg.tools.expert.template import meta_table, render

SUMS = '''
@triton.jit
def {{ name }}_sums_kernel({{ arguments }}, sums_ptr, {{ sizes }}, chunk, BLOCK: tl.constexpr, STAGES: tl.constexpr):
    """The sum of one chunk of a row, for the chunks after it to begin with."""
    outer = tl.program_id(0).to(tl.int64)
    first = tl.program_id(1) * chunk
    total = tl.zeros((BLOCK,), tl.float32)
    for start in tl.range(first, tl.minimum(first + chunk, length), BLOCK, num_stages=STAGES):
        index = start + tl.arange(0, BLOCK)
        inside = index < length
{% for line in before %}
        {{ line }}
{% endfor %}
        total += tl.where(inside, {{ value }}, 0.0)
    tl.store(sums_ptr + outer * tl.num_programs(1) + tl.program_id(1), tl.sum(total, axis=0))

'''

SCAN = '''
@triton.jit
def {{ name }}_kernel(
    {{ arguments }}, {{ 'sums_ptr, ' if chunked else '' }}result_ptr, {{ sizes }}, {{ tunables }},
):
    """{{ purpose }}"""
{% if lanes %}
    lane_tiles = tl.cdiv(inner, LANES)
    outer = (tl.program_id(0) // lane_tiles).to(tl.int64)
    lane = tl.program_id(0) % lane_tiles * LANES + tl.arange(0, LANES)[None, :]
    carry = tl.zeros((1, LANES), tl.float32)
{% else %}
    outer = tl.program_id(0).to(tl.int64)
{% if chunked %}
    part = tl.arange(0, CHUNKS)
    earlier = part < tl.program_id(1)
    carry = tl.sum(tl.load(sums_ptr + outer * tl.num_programs(1) + part, mask=earlier, other=0.0), axis=0)
{% else %}
    carry = 0.0
{% endif %}
{% endif %}
{% if chunked %}
    first = tl.program_id(1) * chunk
    for start in tl.range(first, tl.minimum(first + chunk, length), BLOCK, num_stages=STAGES):
{% else %}
    for start in tl.range(0, length, BLOCK, num_stages=STAGES):
{% endif %}
        index = start + tl.arange(0, BLOCK){{ '[:, None]' if lanes else '' }}
        inside = {{ '(index < length) & (lane < inner)' if lanes else 'index < length' }}
{% for line in before %}
        {{ line }}
{% endfor %}
        x = tl.where(inside, {{ value }}, 0.0)
        running = carry + tl.cumsum(x, axis=0)
        carry += {{ 'tl.sum(x, axis=0, keep_dims=True)' if lanes else 'tl.sum(x, axis=0)' }}
{% for line in after %}
        {{ line }}
{% endfor %}
        tl.store(result_ptr + {{ whole }}, {{ result }}, mask=inside)
'''

HOST = '''
def {{ name }}({{ parameters }}):
    """{{ purpose }}"""
{% for tensor in tensors %}
    {{ tensor }} = {{ tensor }}.contiguous()
{% endfor %}
    shape = {{ shape }}
    length{{ ', inner' if lanes else '' }} = shape[{{ dim }}]{{ ', ' + inner if lanes else '' }}
    result = torch.empty(shape, device={{ tensors[0] }}.device, dtype=torch.{{ dtype }})
    outer = result.numel() // {{ '(length * inner)' if lanes else 'length' }}
{% if chunked %}
    chunk = triton.cdiv(length, {{ table }}_CHUNKS * {{ table }}_META["BLOCK"]) * {{ table }}_META["BLOCK"]
    chunks = triton.cdiv(length, chunk)
    sums = torch.empty((outer, chunks), device=result.device, dtype=torch.float32)
    {{ name }}_sums_kernel[(outer, chunks)]({{ operands }}, sums, {{ numbers }}, chunk, **{{ table }}_META)
    {{ name }}_kernel[(outer, chunks)](
        {{ operands }}, sums, result, {{ numbers }}, chunk, CHUNKS=triton.next_power_of_2(chunks), **{{ table }}_META)
{% elif lanes %}
    {{ name }}_kernel[(outer * triton.cdiv(inner, {{ table }}_META["LANES"]),)](
        {{ operands }}, result, {{ numbers }}, **{{ table }}_META)
{% else %}
    {{ name }}_kernel[(outer,)]({{ operands }}, result, {{ numbers }}, **{{ table }}_META)
{% endif %}
    return result
'''


def scan_source(name: str, meta: dict[str, int], *, chunks: int, lanes: bool, dim: int, **words: Any) -> str:
    """META table, kernels and host function.

    Args:
        chunks: into how many parts a row is cut; 0 for none.
        lanes: the axis summed along is not the last: programs take LANES neighbours of the last ones.
        dim: the axis summed along.
        words: what the templates name besides.
    """
    chunked = chunks > 0
    how = "each chunk on top of the sums before it" if chunked else "block by block, with a carry"
    values = {
        **words,
        "name": name,
        "table": name.upper(),
        "chunked": chunked,
        "lanes": lanes,
        "dim": dim,
        "purpose": f"Running sums along axis {dim}: {how}.",
        "tunables": _tunables(chunked, lanes),
    }
    table = meta_table(name, meta) + (f"{name.upper()}_CHUNKS = {chunks}\n" if chunked else "")
    parts = (*((SUMS,) if chunked else ()), SCAN, HOST)
    return "\n\n".join((table, *(render(part, **values) for part in parts)))


def _tunables(chunked: bool, lanes: bool) -> str:
    names = ["BLOCK", "STAGES", *(["CHUNKS"] if chunked else []), *(["LANES"] if lanes else [])]
    return ", ".join([*(["chunk"] if chunked else []), *(f"{name}: tl.constexpr" for name in names)])
