"""Host functions of the matrix products, as templates: views, allocations, launches."""

# ruff: noqa: E501  (lines of the templates grow shorter when they are rendered)

ALLOCATE = """
{% for name, dtype in outputs %}
    {{ name }} = torch.empty({{ shape }}, dtype=torch.{{ dtype }}, device=lhs.device)
{% endfor %}
"""

TILED = '''
def {{ name }}({{ parameters }}):
    """{{ summary }}"""
{% for line in prepare %}
    {{ line }}
{% endfor %}
{% if copy_b %}
    rhs = rhs.mT.contiguous().mT  # wgmma reads fp32 only along K
{% endif %}
    rows, depth, cols = lhs.shape[-2], lhs.shape[-1], rhs.shape[-1]
{{ allocate }}
    meta = {{ table }}
    tiles = {{ "lhs.shape[0] * " if batched else "" }}triton.cdiv(rows, meta["BLOCK_M"]) * triton.cdiv(cols, meta["BLOCK_N"])
{% if split %}
    k_chunk = triton.cdiv(triton.cdiv(depth, {{ upper }}_CHUNKS), meta["BLOCK_K"]) * meta["BLOCK_K"]
    chunks, all_rows = triton.cdiv(depth, k_chunk), lhs.numel() // depth
    partial = torch.empty((chunks, all_rows, cols), dtype=torch.float32, device=lhs.device)
    {{ name }}_product[(tiles * chunks,)](
        lhs, rhs, partial, rows, cols, depth, all_rows, chunks, k_chunk, *lhs.stride(), *rhs.stride(),
        EVEN_K=depth % meta["BLOCK_K"] == 0, **meta,
    )
    combine = {{ upper }}_COMBINE
    grid = (triton.cdiv(all_rows, combine["BLOCK_M"]) * triton.cdiv(cols, combine["BLOCK_N"]),)
    {{ name }}_combine[grid](partial, {{ arguments }}, all_rows, cols, chunks, **combine)
{% else %}
    {{ name }}_product[(tiles,)](
        lhs, rhs, {{ arguments }}, rows, cols, depth, *lhs.stride(), *rhs.stride(), EVEN_K=depth % meta["BLOCK_K"] == 0, **meta
    )
{% endif %}
    return {{ returned }}
'''

HALVES = '''
def {{ name }}_halves(x):
    """The rows of x in scaled fp16, K padded with zeros to whole blocks, and the factor that undoes each row's scale."""
    rows, depth = x.numel() // x.shape[-1], x.shape[-1]
    padded = triton.cdiv(depth, {{ table }}["BLOCK_K"]) * {{ table }}["BLOCK_K"]
    high = torch.empty((rows, padded), dtype=torch.float16, device=x.device)
{% if low %}
    low = torch.empty_like(high)
{% endif %}
    scale = torch.empty((rows,), dtype=torch.float32, device=x.device)
    split = {{ upper }}_SPLIT if x.stride(-1) == 1 else {{ upper }}_SPLIT_TRANSPOSED
    {{ name }}_split[(triton.cdiv(rows, split["BLOCK_R"]),)](
        x, high, {{ "low, " if low else "" }}scale, rows, depth, padded, {{ "x.shape[-2], " if batched else "" }}*x.stride(), **split
    )
    return high, {{ "low, " if low else "" }}scale


def {{ name }}({{ parameters }}):
    """{{ summary }}"""
{% for line in prepare %}
    {{ line }}
{% endfor %}
    rows, cols = lhs.shape[-2], rhs.shape[-1]
{{ allocate }}
    meta = {{ table }}
    a_high, {{ "a_low, " if low else "" }}a_scale = {{ name }}_halves(lhs)
    b_high, {{ "b_low, " if low else "" }}b_scale = {{ name }}_halves(rhs.mT)
{% if tma %}
    a_block, b_block = [meta["BLOCK_M"], meta["BLOCK_K"]], [meta["BLOCK_N"], meta["BLOCK_K"]]
{% endif %}
    tiles = {{ "lhs.shape[0] * " if batched else "" }}triton.cdiv(rows, meta["BLOCK_M"]) * triton.cdiv(cols, meta["BLOCK_N"])
    {{ name }}_product[(tiles,)](
{% for operand in operands %}
        {{ "TensorDescriptor.from_tensor(" + operand + ", " + operand[0] + "_block)" if tma else operand }},
{% endfor %}
        a_scale, b_scale, {{ arguments }}, rows, cols, a_high.shape[1], **meta,
    )
    return {{ returned }}
'''
