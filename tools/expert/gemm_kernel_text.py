"""Triton for matrix products, as templates. `epilogue` is what becomes of the finished tile `acc` (see `epilogue`).

In fp32 the tensor core's own accumulator truncates, so no chain of products may be long: `tf32x3` ends it at every
block of K by itself; the fp16 halves end it with a chain of three dots, whose last result Triton cannot fold back.
"""

# ruff: noqa: E501  (lines of the templates grow shorter when they are rendered)

ORDER = '''
@triton.jit
def {{ name }}_tile(pid, tiles_m, tiles_n, GROUP_M: tl.constexpr):
    """Program -> tile: groups of GROUP_M rows of tiles, each walked column by column, so that L2 serves b again."""
    group = pid // (GROUP_M * tiles_n)
    rows = tl.minimum(tiles_m - group * GROUP_M, GROUP_M)
    inside = pid % (GROUP_M * tiles_n)
    return group * GROUP_M + inside % rows, inside // rows
'''

TILED = '''
@triton.jit
def {{ name }}_product(
    a_ptr, b_ptr, {{ pointers }}, M, N, K,{{ " ROWS, CHUNKS, K_CHUNK," if split else "" }}
    {{ "a_batch, " if batched else "" }}a_row, a_k, {{ "b_batch, " if batched else "" }}b_k, b_col,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr, EVEN_K: tl.constexpr,
):
    """One tile of a @ b{{ ", over one chunk of K" if split else "" }}{{ ", then " + tail if tail and not split else "" }}."""
    tiles_m, tiles_n = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    tile_m, tile_n = {{ name }}_tile(tl.program_id(0) % (tiles_m * tiles_n), tiles_m, tiles_n, GROUP_M)
{% if batched and split %}
    batch = tl.program_id(0) // (tiles_m * tiles_n * CHUNKS)
    chunk = tl.program_id(0) // (tiles_m * tiles_n) % CHUNKS
{% elif batched %}
    batch = tl.program_id(0) // (tiles_m * tiles_n)
{% elif split %}
    chunk = tl.program_id(0) // (tiles_m * tiles_n)
{% endif %}
{% if split %}
    k_first = chunk * K_CHUNK
    k_last = tl.minimum(K, k_first + K_CHUNK)
{% endif %}
    row_in, col_in, ks = tl.arange(0, BLOCK_M), tl.arange(0, BLOCK_N), tl.arange(0, BLOCK_K)
    cols = tile_n * BLOCK_N + col_in
    row_ok, col_ok = tile_m * BLOCK_M + row_in < M, cols < N

    # 64 bits for what a whole tensor spans, 32 for what a tile spans.
{% if batched %}
    a_ptr += batch.to(tl.int64) * a_batch
    b_ptr += batch.to(tl.int64) * b_batch
{% endif %}
    a_ptr += tile_m.to(tl.int64) * BLOCK_M * a_row{{ " + k_first.to(tl.int64) * a_k" if split else "" }}
    b_ptr += tile_n.to(tl.int64) * BLOCK_N * b_col{{ " + k_first.to(tl.int64) * b_k" if split else "" }}
{% if turned %}
    # The product turned over: wgmma takes its left operand, the widened weight, from registers.
{% endif %}
    a_at = a_ptr + row_in{{ down }} * a_row + ks{{ along }} * a_k
    b_at = b_ptr + ks{{ down }} * b_k + col_in{{ along }} * b_col
    acc = tl.zeros(({{ "BLOCK_N, BLOCK_M" if turned else "BLOCK_M, BLOCK_N" }}), tl.float32)
    for k in range({{ "k_first, k_last" if split else "0, K" }}, BLOCK_K):
        if EVEN_K:
            a = tl.load(a_at, mask=row_ok{{ down }}, other=0)
            b = tl.load(b_at, mask=col_ok{{ along }}, other=0)
        else:
            a = tl.load(a_at, mask=row_ok{{ down }} & (ks < K - k){{ along }}, other=0)
            b = tl.load(b_at, mask=(ks < K - k){{ down }} & col_ok{{ along }}, other=0)
{% if int8 and operand == "float16" %}
        # Exact, and without the GPU's slow conversions: the bits of 1024 + (b + 128) as fp16, less 1152.
        b = ((b.to(tl.int16) & 0xFF) ^ 0x6480).to(tl.float16, bitcast=True) - 1152.0
{% elif int8 %}
        b = b.to(tl.float32).to(a.dtype)  # exact: 8 bits fit every mantissa
{% endif %}
{% if precision == "tf32" %}
        a{{ "" if int8 else ", b" }} = round_tf32(a){{ "" if int8 else ", round_tf32(b)" }}
{% endif %}
        acc = tl.dot({{ "b, a" if turned else "a, b" }}, acc{{ ', input_precision="' + precision + '"' if precision else "" }})
        a_at += BLOCK_K * a_k
        b_at += BLOCK_K * b_k
{% if turned %}
    acc = tl.trans(acc)
{% endif %}

    first_row = {{ "batch.to(tl.int64) * M + tile_m" if batched else "tile_m.to(tl.int64)" }} * BLOCK_M
{% if split %}
    inside, at = row_ok[:, None] & col_ok[None, :], row_in[:, None] * N + cols[None, :]
    tl.store(partial_ptr + (chunk * ROWS + first_row) * N + at, acc, mask=inside)
{% else %}
    inside, at = row_ok[:, None] & col_ok[None, :], row_in[:, None] * N + cols[None, :]
{{ epilogue }}
{% endif %}
'''

COMBINE = '''
@triton.jit
def {{ name }}_combine(
    partial_ptr, {{ pointers }}, ROWS, N, CHUNKS, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):
    """Add up the chunks of K, always in the same order{% if tail %}, then {{ tail }}{% endif %}."""
    row_in = tl.arange(0, BLOCK_M)
    first_row = (tl.program_id(0) // tl.cdiv(N, BLOCK_N)).to(tl.int64) * BLOCK_M
    cols = tl.program_id(0) % tl.cdiv(N, BLOCK_N) * BLOCK_N + tl.arange(0, BLOCK_N)
    row_ok, col_ok = first_row + row_in < ROWS, cols < N
    inside, at = row_ok[:, None] & col_ok[None, :], row_in[:, None] * N + cols[None, :]
    partial_ptr += first_row * N
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for _ in range(CHUNKS):
        acc += tl.load(partial_ptr + at, mask=inside, other=0.0)
        partial_ptr += ROWS * N
{{ epilogue }}
'''

SPLIT = '''
@triton.jit
def {{ name }}_split(
    x_ptr, high_ptr, {% if low %}low_ptr, {% endif %}scale_ptr, ROWS, K, K_PAD, {% if batched %}PER_BATCH, x_batch, {% endif %}x_row, x_k,
    BLOCK_R: tl.constexpr, BLOCK_C: tl.constexpr,
):
    """Rows of x as {% if low %}high + low{% else %}one{% endif %} in fp16 times a power of two a row; columns past K are zero."""
    rows = tl.program_id(0) * BLOCK_R + tl.arange(0, BLOCK_R)
    row_ok = rows < ROWS
{% if batched %}
    x_at = x_ptr + ((rows // PER_BATCH).to(tl.int64) * x_batch + (rows % PER_BATCH).to(tl.int64) * x_row)[:, None]
{% else %}
    x_at = x_ptr + rows.to(tl.int64)[:, None] * x_row
{% endif %}
    largest = tl.zeros((BLOCK_R,), tl.float32)
    for k in range(0, K, BLOCK_C):
        ks = (k + tl.arange(0, BLOCK_C))[None, :]
        x = tl.load(x_at + ks * x_k, mask=row_ok[:, None] & (ks < K), other=0.0).to(tl.float32)
        largest = tl.maximum(largest, tl.max(tl.abs(x), 1))
    # Exponent bits only, so scaling is exact. The maximum comes to lie in [2^14, 2^15): far from fp16's subnormals.
    exponent = tl.minimum(tl.maximum(largest.to(tl.int32, bitcast=True) >> 23, 15), 254)
    up = ((268 - exponent) << 23).to(tl.float32, bitcast=True)
    tl.store(scale_ptr + rows, ((exponent - 14) << 23).to(tl.float32, bitcast=True), mask=row_ok)
    at = rows.to(tl.int64)[:, None] * K_PAD
    for k in range(0, K_PAD, BLOCK_C):
        ks = (k + tl.arange(0, BLOCK_C))[None, :]
        x = tl.load(x_at + ks * x_k, mask=row_ok[:, None] & (ks < K), other=0.0).to(tl.float32) * up[:, None]
        high = x.to(tl.float16)
        tl.store(high_ptr + at + ks, high, mask=row_ok[:, None] & (ks < K_PAD))
{% if low %}
        tl.store(low_ptr + at + ks, (x - high.to(tl.float32)).to(tl.float16), mask=row_ok[:, None] & (ks < K_PAD))
{% endif %}
'''

HALVES = '''
@triton.jit
def {{ name }}_product(
    {{ operands }}, a_scale_ptr, b_scale_ptr, {{ pointers }}, M, N, K_PAD,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr,
):
    """One tile of a @ b.T from scaled fp16 {{ "halves (low @ low lies below fp32's last bit)" if low else "copies" }}{{ ", then " + tail if tail else "" }}."""
    tiles_m, tiles_n = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    tile_m, tile_n = {{ name }}_tile(tl.program_id(0) % (tiles_m * tiles_n), tiles_m, tiles_n, GROUP_M)
    row_in, col_in = tl.arange(0, BLOCK_M), tl.arange(0, BLOCK_N)
    cols = tile_n * BLOCK_N + col_in
    row_ok, col_ok = tile_m * BLOCK_M + row_in < M, cols < N
{% if batched %}
    batch = tl.program_id(0) // (tiles_m * tiles_n)
    a_row, b_row = batch * M + tile_m * BLOCK_M, batch * N + tile_n * BLOCK_N
{% else %}
    a_row, b_row = tile_m * BLOCK_M, tile_n * BLOCK_N
{% endif %}
{% if not tma %}
    ks = tl.arange(0, BLOCK_K)
    a_at = a_row.to(tl.int64) * K_PAD + row_in[:, None] * K_PAD + ks[None, :]
    b_at = b_row.to(tl.int64) * K_PAD + col_in[None, :] * K_PAD + ks[:, None]
{% endif %}
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for k in range(0, K_PAD, BLOCK_K):
{% for half in halves %}
{% if tma %}
        a_{{ half }}, b_{{ half }} = a_{{ half }}_tma.load([a_row, k]), b_{{ half }}_tma.load([b_row, k]).T
{% else %}
        a_{{ half }} = tl.load(a_{{ half }}_ptr + a_at, mask=row_ok[:, None], other=0.0)
        b_{{ half }} = tl.load(b_{{ half }}_ptr + b_at, mask=col_ok[None, :], other=0.0)
{% endif %}
{% endfor %}
{% if low %}
        # Small products first; then the chain ends and is added in fp32.
        part = tl.dot(a_low, b_high)
        part = tl.dot(a_high, b_low, part)
        acc += tl.dot(a_high, b_high, part)
{% else %}
        acc = tl.dot(a_high, b_high, acc)
{% endif %}
{% if not tma %}
        a_at += BLOCK_K
        b_at += BLOCK_K
{% endif %}
    acc *= tl.load(a_scale_ptr + a_row + row_in, mask=row_ok, other=0.0)[:, None]
    acc *= tl.load(b_scale_ptr + b_row + col_in, mask=col_ok, other=0.0)[None, :]
    first_row = a_row.to(tl.int64)
    inside, at = row_ok[:, None] & col_ok[None, :], row_in[:, None] * N + cols[None, :]
{{ epilogue }}
'''
