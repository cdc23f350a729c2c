"""Triton for two-dimensional pooling, as templates; `after` are pointwise statements on the pooled values."""

from typing import Any

from egg.tools.expert.template import meta_table, render

KERNEL = '''
@triton.jit
def {{ name }}_kernel(
    {{ arguments }}, result_ptr, total, height, width, {{ sizes }},
    KERNEL_H: tl.constexpr, KERNEL_W: tl.constexpr, STRIDE_H: tl.constexpr, STRIDE_W: tl.constexpr,
    PAD_H: tl.constexpr, PAD_W: tl.constexpr, DILATION_H: tl.constexpr, DILATION_W: tl.constexpr, BLOCK: tl.constexpr,
):
    """{{ purpose }}"""
    offsets = tl.program_id(0){{ '.to(tl.int64)' if wide else '' }} * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < total
    column, line = offsets % out_width, offsets // out_width % out_height
    plane = offsets // (out_width * out_height)
{% if by_channel %}
    batch, channel = plane // channels, plane % channels
{% endif %}
    top, left = line * STRIDE_H - PAD_H, column * STRIDE_W - PAD_W
    window = {{ source }}_ptr + plane * height * width
{% if largest %}
    pooled = tl.full((BLOCK,), float("-inf"), tl.float32)
{% else %}
    pooled = tl.zeros((BLOCK,), tl.float32)
{% if not count_pad %}
    count = tl.zeros((BLOCK,), tl.float32)
{% endif %}
{% endif %}
    for i in tl.static_range(KERNEL_H):
        for j in tl.static_range(KERNEL_W):
            y, x = top + i * DILATION_H, left + j * DILATION_W
            here = inside & (y >= 0) & (y < height) & (x >= 0) & (x < width)
{% if largest %}
            value = tl.load(window + y * width + x, mask=here, other=float("-inf")).to(tl.float32)
            pooled = tl.maximum(pooled, value, propagate_nan=tl.PropagateNan.ALL)
{% else %}
            pooled += tl.load(window + y * width + x, mask=here, other=0.0).to(tl.float32)
{% if not count_pad %}
            count += tl.where(here, 1.0, 0.0)
{% endif %}
{% endif %}
{% if not largest %}
    pooled = tl.div_rn(pooled, {{ divisor }})
{% endif %}
{% for line in after %}
    {{ line }}
{% endfor %}
    tl.store(result_ptr + offsets, {{ result }}, mask=inside)
'''

HOST = '''
def {{ name }}({{ parameters }}):
    """{{ purpose }}"""
{% for tensor in tensors %}
    {{ tensor }} = {{ tensor }}.contiguous()
{% endfor %}
    batches, channels, height, width = {{ source }}.shape
    out_height = (height + 2 * {{ pad[0] }} - {{ dilation[0] }} * ({{ kernel[0] }} - 1) - 1) // {{ stride[0] }} + 1
    out_width = (width + 2 * {{ pad[1] }} - {{ dilation[1] }} * ({{ kernel[1] }} - 1) - 1) // {{ stride[1] }} + 1
    shape = (batches, channels, out_height, out_width)
    result = torch.empty(shape, device={{ source }}.device, dtype=torch.{{ dtype }})
    {{ name }}_kernel[(triton.cdiv(result.numel(), {{ table }}_META["BLOCK"]),)](
        {{ operands }}, result, result.numel(), height, width, {{ numbers }},
        KERNEL_H={{ kernel[0] }}, KERNEL_W={{ kernel[1] }}, STRIDE_H={{ stride[0] }}, STRIDE_W={{ stride[1] }},
        PAD_H={{ pad[0] }}, PAD_W={{ pad[1] }}, DILATION_H={{ dilation[0] }}, DILATION_W={{ dilation[1] }},
        **{{ table }}_META)
    return result
'''


def pooling_source(name: str, meta: dict[str, int], **words: Any) -> str:
    """META table, kernel and host function; `words` are what the templates name."""
    kind = "Largest value" if words["largest"] else "Mean"
    purpose = f"{kind} of each window{', then ' + words['then'] if words['then'] else ''}; results in memory order."
    whole = "tl.full((BLOCK,), KERNEL_H * KERNEL_W, tl.float32)"
    words["divisor"] = whole if words["count_pad"] else "tl.maximum(count, 1.0)"
    values = {**words, "name": name, "table": name.upper(), "purpose": purpose}
    return "\n\n".join((meta_table(name, meta), render(KERNEL, **values), render(HOST, **values)))
