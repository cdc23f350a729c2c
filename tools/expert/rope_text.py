"""Triton for a rotary position embedding, as templates."""

from egg.tools.expert.template import meta_table, render

KERNEL = '''
@triton.jit
def {{ name }}_kernel(
    x_ptr, cos_ptr, sin_ptr, out_ptr, rows, heads, tokens,
    x_batch, x_head, x_token, x_value, cos_batch, cos_head, cos_token, cos_value,
    sin_batch, sin_head, sin_token, sin_value,
    SIZE: tl.constexpr, BLOCK_D: tl.constexpr, BLOCK_R: tl.constexpr,
):
    """Turn every pair of BLOCK_R rows; a pair is {{ pair }}."""
    row = tl.program_id(0) * BLOCK_R + tl.arange(0, BLOCK_R)
    batch, head, token = row // (heads * tokens), row // tokens % heads, row % tokens
    batch, head, token = batch.to(tl.int64)[:, None], head.to(tl.int64)[:, None], token.to(tl.int64)[:, None]
    i = tl.arange(0, BLOCK_D)[None, :]
    one, two = {{ indices }}
    here = (row < rows)[:, None] & (i < SIZE // 2)

    x_ptr += batch * x_batch + head * x_head + token * x_token
    cos_ptr += batch * cos_batch + head * cos_head + token * cos_token
    sin_ptr += batch * sin_batch + head * sin_head + token * sin_token
    x_one = tl.load(x_ptr + one * x_value, mask=here, other=0.0).to(tl.float32)
    x_two = tl.load(x_ptr + two * x_value, mask=here, other=0.0).to(tl.float32)
{% if half_tables %}
    cos = tl.load(cos_ptr + i * cos_value, mask=here, other=0.0).to(tl.float32)
    sin = tl.load(sin_ptr + i * sin_value, mask=here, other=0.0).to(tl.float32)
    out_one, out_two = x_one * cos - x_two * sin, x_two * cos + x_one * sin
{% else %}
    cos_one = tl.load(cos_ptr + one * cos_value, mask=here, other=0.0).to(tl.float32)
    cos_two = tl.load(cos_ptr + two * cos_value, mask=here, other=0.0).to(tl.float32)
    sin_one = tl.load(sin_ptr + one * sin_value, mask=here, other=0.0).to(tl.float32)
    sin_two = tl.load(sin_ptr + two * sin_value, mask=here, other=0.0).to(tl.float32)
    out_one, out_two = x_one * cos_one - x_two * sin_one, x_two * cos_two + x_one * sin_two
{% endif %}

    out_ptr += row.to(tl.int64)[:, None] * SIZE
    tl.store(out_ptr + one, out_one, mask=here)
    tl.store(out_ptr + two, out_two, mask=here)
'''

HOST = '''
def {{ name }}({{ parameters }}):
    """Rotary position embedding: every pair of values turned by its angle."""
    x = {{ x }}
    size = x.shape[-1]
    out = torch.empty(x.shape, device=x.device, dtype=x.dtype)
    tables = (*x.shape[:-1], {{ 'size // 2' if half_tables else 'size' }})
    cos, sin = {{ cos }}.expand(tables), {{ sin }}.expand(tables)
    x, cos, sin = (t.reshape((1,) * (4 - t.dim()) + t.shape) for t in (x, cos, sin))
    rows = out.numel() // size
    block_d = triton.next_power_of_2(size // 2)
    block_r = max(1, {{ meta }}["BLOCK"] // (2 * block_d))
    {{ name }}_kernel[(triton.cdiv(rows, block_r),)](
        x, cos, sin, out, rows, x.shape[1], x.shape[2], *x.stride(), *cos.stride(), *sin.stride(),
        SIZE=size, BLOCK_D=block_d, BLOCK_R=block_r, num_warps={{ meta }}["num_warps"])
    return out
'''


def rope_source(
    name: str,
    *,
    parameters: str,
    x: str,
    cos: str,
    sin: str,
    layout: str,
    half_tables: bool,
    meta: dict[str, int],
) -> str:
    """META table, kernel and host function; `x`, `cos` and `sin` are names among the parameters."""
    halves = layout == "halves"
    values = {
        "name": name,
        "parameters": parameters,
        "x": x,
        "cos": cos,
        "sin": sin,
        "half_tables": half_tables,
        "meta": f"{name.upper()}_META",
        "indices": "i, i + SIZE // 2" if halves else "2 * i, 2 * i + 1",
        "pair": "i and i + SIZE / 2" if halves else "2 i and 2 i + 1",
    }
    return "\n\n".join((meta_table(name, meta), render(KERNEL, **values), render(HOST, **values)))
