"""Triton for softmax(q k^T * scale) v with an online softmax, as templates.

`pieces` is the number of power-of-two pieces a head is cut into (96 = 64 + 32); a head that is not their sum is padded
with zeros. In fp32 a product's chain is ended at each block of keys and added by `tl.fma`: the tensor core's own
accumulator truncates, and Triton folds a plain add back into it.
"""

STEPS = '''
@triton.jit
def {{ name }}_steps(
    {{ results }}, {{ operands }},
    rows, first, last, k_row, v_row, n_query, n_key, scale,
    HEAD: tl.constexpr, {{ widths }}, BLOCK_N: tl.constexpr, EDGE: tl.constexpr,
):
    """Attend to keys `first` to `last`, keeping a running maximum and sum of every row (online softmax)."""
    for start in range(first, last, BLOCK_N):
        keys = start + tl.arange(0, BLOCK_N)
        here = (keys < n_key)[:, None]
{% for i in ids %}
        columns{{ i }} = {% if i == '_hi' %}WIDTH_lo + {% endif %}tl.arange(0, WIDTH{{ i }})
        inside{{ i }} = here & (columns{{ i }} < HEAD)[None, :]
        k{{ i }} = tl.load(k_ptr + keys[:, None] * k_row + columns{{ i }}[None, :], mask=inside{{ i }}, other=0.0)
{% endfor %}
        scores = {{ dot('q' + ids[0], 'k' + ids[0] + '.T') }}
{% if pieces == 2 %}
        scores = {{ dot('q_hi', 'k_hi.T', 'scores') }}
{% endif %}
        scores = scores * scale
        if EDGE:
{% if mask %}
            seen = (rows < n_query)[:, None] & (keys < n_key)[None, :]
            mask = tl.load(mask_ptr + rows[:, None] * mask_row + keys[None, :] * mask_key, seen, other={{ hidden }})
{% if mask == 'add' %}
            scores = scores + mask.to(tl.float32) * 1.4426950408889634
{% else %}
            scores = tl.where(mask {{ '!=' if mask == 'keep' else '==' }} 0, scores, float("-inf"))
{% endif %}
{% elif causal %}
            visible = (keys[None, :] <= rows[:, None]) & (keys < n_key)[None, :]
            scores = tl.where(visible, scores, float("-inf"))
{% else %}
            scores = tl.where((keys < n_key)[None, :], scores, float("-inf"))
{% endif %}
        new_max = tl.maximum(row_max, tl.max(scores, axis=1))
{% if guard %}
        pivot = tl.where(new_max == float("-inf"), 0.0, new_max)
{% endif %}
        weights = tl.exp2(scores - {{ pivot }}[:, None])
        shrink = tl.exp2(row_max - {{ pivot }})
        row_sum = row_sum * shrink + tl.sum(weights, axis=1)
        row_max = new_max
{% for i in ids %}
        v{{ i }} = tl.load(v_ptr + keys[:, None] * v_row + columns{{ i }}[None, :], mask=inside{{ i }}, other=0.0)
{% if fp32 %}
        part = {{ dot('weights', 'v' + i) }}
        acc{{ i }} = tl.fma(acc{{ i }}, tl.broadcast_to(shrink[:, None], acc{{ i }}.shape), part)
{% else %}
        acc{{ i }} = tl.dot(weights.to(v{{ i }}.dtype), v{{ i }}, acc{{ i }} * shrink[:, None])
{% endif %}
{% endfor %}
    return row_max, row_sum{% for i in ids %}, acc{{ i }}{% endfor %}

'''

EXTENT = '''
@triton.jit
def {{ name }}_extent_kernel(
    mask_ptr, extent_ptr, mask_plane, mask_row, mask_key, n_query, n_key,
    BLOCK_M: tl.constexpr, BLOCK_K: tl.constexpr,
):
    """For each block of rows of a mask: the end of the visible keys, and the first key that the mask changes."""
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    mask_ptr += tl.program_id(1).to(tl.int64) * mask_plane
    end = tl.zeros((BLOCK_K,), tl.int32)
    change = tl.zeros((BLOCK_K,), tl.int32) + n_key
    for start in range(0, n_key, BLOCK_K):
        keys = start + tl.arange(0, BLOCK_K)
        inside = (rows < n_query)[:, None] & (keys < n_key)[None, :]
        mask = tl.load(mask_ptr + rows[:, None] * mask_row + keys[None, :] * mask_key, mask=inside, other=0)
        visible = tl.max((inside & (mask {{ test_visible }})).to(tl.int32), axis=0)
        changed = tl.max((inside & (mask {{ test_changed }})).to(tl.int32), axis=0)
        end = tl.maximum(end, tl.where(visible != 0, keys + 1, 0))
        change = tl.minimum(change, tl.where(changed != 0, keys, n_key))
    extent_ptr += (tl.program_id(1) * tl.num_programs(0) + tl.program_id(0)) * 2
    tl.store(extent_ptr, tl.max(end, axis=0))
    tl.store(extent_ptr + 1, tl.min(change, axis=0))

'''

KERNEL = '''
@triton.jit
def {{ name }}_kernel(
    {{ pointers }},
{% for group in strides %}
    {{ group }},
{% endfor %}
    heads, group, n_query, n_key, {{ 'keys_per_split, ' if split else '' }}scale,
    HEAD: tl.constexpr, {{ widths }}, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):
    """{{ summary }}"""
{% if grid == 'heads_fastest' %}
    pair, block = tl.program_id(0), tl.program_id(1)
{% else %}
    block, pair = tl.program_id(0), tl.program_id(1)
{% endif %}
    batch, head = (pair // heads).to(tl.int64), (pair % heads).to(tl.int64)
{% if longest_first %}
    block = tl.cdiv(n_query, BLOCK_M) - 1 - block  # the blocks with most keys first, so that no long one starts last
{% endif %}
    rows = block * BLOCK_M + tl.arange(0, BLOCK_M)
    q_ptr += batch * q_batch + head * q_head
    k_ptr += batch * k_batch + head // group * k_head
    v_ptr += batch * v_batch + head // group * v_head
{% if mask %}
    mask_ptr += batch * mask_batch + head * mask_head
    extent_ptr += batch * extent_batch + head * extent_head + block * 2
{% endif %}
{% for i in ids %}
    columns{{ i }} = {% if i == '_hi' %}WIDTH_lo + {% endif %}tl.arange(0, WIDTH{{ i }})
    valid{{ i }} = (rows < n_query)[:, None] & (columns{{ i }} < HEAD)[None, :]
    q{{ i }} = tl.load(q_ptr + rows[:, None] * q_row + columns{{ i }}[None, :], mask=valid{{ i }}, other=0.0)
{% endfor %}

    row_max = tl.full((BLOCK_M,), float("-inf"), tl.float32)
    row_sum = tl.zeros((BLOCK_M,), tl.float32)
{% for i in ids %}
    acc{{ i }} = tl.zeros((BLOCK_M, WIDTH{{ i }}), tl.float32)
{% endfor %}
    {{ 'first' if split else 'last' }} = {{ 'tl.program_id(2) * keys_per_split' if split else 'n_key' }}
{% if split %}
    last = tl.minimum(first + keys_per_split, n_key)
{% endif %}
{% if mask %}
    last = tl.minimum(last, tl.load(extent_ptr))
    edge = tl.minimum(last, tl.load(extent_ptr + 1)) // BLOCK_N * BLOCK_N  # no mask to read before it
{% elif causal %}
    last = tl.minimum(last, (block + 1) * BLOCK_M)
    edge = tl.minimum(last, block * BLOCK_M + 1) // BLOCK_N * BLOCK_N  # whole blocks before it need no mask
{% else %}
    edge = last // BLOCK_N * BLOCK_N
{% endif %}
{% if split %}
    edge = tl.maximum(edge, first)
{% endif %}
    {{ results }} = {{ name }}_steps(
        {{ results }}, {{ operands }},
        rows, {{ 'first' if split else '0' }}, edge, {{ sizes }}, EDGE=False,
    )
    {{ results }} = {{ name }}_steps(
        {{ results }}, {{ operands }},
        rows, edge, last, {{ sizes }}, EDGE=True,
    )

{% if split %}
    slot = (tl.program_id(2) * tl.num_programs({{ 0 if grid == 'heads_fastest' else 1 }}) + pair).to(tl.int64) * n_query
    part_ptr += slot * HEAD
{% for i in ids %}
    tl.store(part_ptr + rows[:, None] * HEAD + columns{{ i }}[None, :], acc{{ i }}, mask=valid{{ i }})
{% endfor %}
    tl.store(max_ptr + slot + rows, row_max, mask=rows < n_query)
    tl.store(sum_ptr + slot + rows, row_sum, mask=rows < n_query)
{% else %}
    out_ptr += batch * out_batch + head * out_head
{% for i in ids %}
    acc{{ i }} = tl.div_rn(acc{{ i }}, tl.broadcast_to({{ divisor }}[:, None], acc{{ i }}.shape))
    tl.store(out_ptr + rows[:, None] * out_row + columns{{ i }}[None, :], acc{{ i }}, mask=valid{{ i }})
{% endfor %}
{% endif %}
'''

COMBINE = '''
@triton.jit
def {{ name }}_combine_kernel(
    part_ptr, max_ptr, sum_ptr, out_ptr, out_batch, out_head, out_row, heads, n_query, splits,
    HEAD: tl.constexpr, WIDTH: tl.constexpr, BLOCK_R: tl.constexpr,
):
    """Bring the splits of BLOCK_R rows to their common maximum and add them, in a fixed order."""
    rows = tl.program_id(0) * BLOCK_R + tl.arange(0, BLOCK_R)
    pair, pairs = tl.program_id(1), tl.num_programs(1)
    batch, head = (pair // heads).to(tl.int64), (pair % heads).to(tl.int64)
    columns = tl.arange(0, WIDTH)
    valid = (rows < n_query)[:, None] & (columns < HEAD)[None, :]
    row_max = tl.full((BLOCK_R,), float("-inf"), tl.float32)
    row_sum = tl.zeros((BLOCK_R,), tl.float32)
    total = tl.zeros((BLOCK_R, WIDTH), tl.float32)
    for split in range(0, splits):
        slot = (split * pairs + pair).to(tl.int64) * n_query
        part_max = tl.load(max_ptr + slot + rows, mask=rows < n_query, other=0.0)
        part_sum = tl.load(sum_ptr + slot + rows, mask=rows < n_query, other=1.0)
        part = tl.load(part_ptr + slot * HEAD + rows[:, None] * HEAD + columns[None, :], mask=valid, other=0.0)
        new_max = tl.maximum(row_max, part_max)
        pivot = tl.where(new_max == float("-inf"), 0.0, new_max)
        shrink = tl.exp2(row_max - pivot)
        grow = tl.exp2(part_max - pivot)
        total = total * shrink[:, None] + part * grow[:, None]
        row_sum = row_sum * shrink + part_sum * grow
        row_max = new_max
    out_ptr += batch * out_batch + head * out_head
    total = tl.div_rn(total, tl.broadcast_to({{ divisor }}[:, None], total.shape))
    tl.store(out_ptr + rows[:, None] * out_row + columns[None, :], total, mask=valid)
'''

HOST = '''
def {{ name }}({{ parameters }}):
    """{{ summary }}"""
    scale = {{ scale }} * 1.4426950408889634  # the hardware's exponential is 2^x
    operands = ({{ inputs }})
    q, k, v = (x if x.stride(-1) == 1 else x.contiguous() for x in operands)
{% if rank == 3 %}
    q, k, v = q.unsqueeze(1), k.unsqueeze(1), v.unsqueeze(1)
{% elif rank == 2 %}
    q, k, v = q[None, None], k[None, None], v[None, None]
{% endif %}
    batches, heads, n_query, head = q.shape
    n_key = k.shape[2]
{% if pieces == 2 %}
    low = max(16, triton.next_power_of_2(head + 1) // 2)  # 96 = 64 + 32: two dots instead of a quarter of padding
    widths = dict(HEAD=head, WIDTH_lo=low, WIDTH_hi=max(16, triton.next_power_of_2(head - low)))
{% else %}
    widths = dict(HEAD=head, WIDTH=max(16, triton.next_power_of_2(head)))
{% endif %}
{% if out_layout == 'tokens' %}
    # heads next to each other for each token: the reshape that usually follows costs no copy
    out = torch.empty((batches, n_query, heads, head), device=q.device, dtype=q.dtype).transpose(1, 2)
{% else %}
    out = torch.empty((batches, heads, n_query, head), device=q.device, dtype=q.dtype)
{% endif %}
    blocks = triton.cdiv(n_query, {{ meta }}["BLOCK_M"])
{% if mask %}
    mask = {{ mask_name }}.expand(*{{ mask_name }}.shape[:-2], n_query, n_key)
    mask = mask.reshape((1,) * (4 - mask.dim()) + mask.shape){{ rank_fix }}
    planes = mask.flatten(0, 1)
    extent = torch.empty((*mask.shape[:2], blocks, 2), device=q.device, dtype=torch.int32)
    {{ name }}_extent_kernel[(blocks, planes.shape[0])](
        planes, extent, *planes.stride(), n_query, n_key, BLOCK_M={{ meta }}["BLOCK_M"], BLOCK_K=128, num_warps=8)
    mask, extent = (x.expand(batches, heads, *x.shape[2:]) for x in (mask, extent))
{% endif %}
{% if split %}
    splits = max(1, min({{ meta_name }}_SPLITS, triton.cdiv(n_key, {{ meta }}["BLOCK_N"])))
    keys_per_split = triton.cdiv(triton.cdiv(n_key, splits), {{ meta }}["BLOCK_N"]) * {{ meta }}["BLOCK_N"]
    splits = triton.cdiv(n_key, keys_per_split)
    parts = torch.empty((splits, batches * heads, n_query, head), device=q.device, dtype=torch.float32)
    row_max, row_sum = torch.empty((2, splits, batches * heads, n_query), device=q.device, dtype=torch.float32)
{% endif %}
    grid = ({{ grid_axes }}{{ ', splits' if split else '' }})
    {{ name }}_kernel[grid](
        q, k, v, {{ 'mask, extent, ' if mask else '' }}{{ 'parts, row_max, row_sum' if split else 'out' }},
        *q.stride()[:3], *k.stride()[:3], *v.stride()[:3],{{ '' if split else ' *out.stride()[:3],' }}
{% if mask %}
        *mask.stride(), *extent.stride()[:2],
{% endif %}
        heads, heads // k.shape[1], n_query, n_key, {{ 'keys_per_split, ' if split else '' }}scale,
        **widths, **{{ meta }})
{% if split %}
    {{ name }}_combine_kernel[(triton.cdiv(n_query, 16), batches * heads)](
        parts, row_max, row_sum, out, *out.stride()[:3], heads, n_query, splits,
        HEAD=head, WIDTH=triton.next_power_of_2(head), BLOCK_R=16, num_warps=4)
{% endif %}
    return out{{ {2: '[0, 0]', 3: '.squeeze(1)', 4: ''}[rank] }}
'''
