"""Triton for the cross-entropy of class scores, as templates: log(sum(exp(scores))) - score of the target, per row.

The running maximum and sum are kept for every lane and joined once at the end. Of exp(m_old - m_new) and exp(x - m_new)
one is always 1, so a step costs one exponential.
"""

from egg.tools.expert.template import meta_table, render

SWEEP = '''
@triton.jit
def {{ name }}_sweep(
    x_ptr, here, x_class, first, last, BLOCK_R: tl.constexpr, BLOCK_C: tl.constexpr, STAGES: tl.constexpr,
):
    """Maximum of the scores of each row, and the sum of exp(score - maximum), over the classes `first` to `last`."""
    top = tl.full((BLOCK_R, BLOCK_C), -3.4e38, tl.float32)
    total = tl.zeros((BLOCK_R, BLOCK_C), tl.float32)
    for start in tl.range(first, last, BLOCK_C, num_stages=STAGES):
        classes = start + tl.arange(0, BLOCK_C)[None, :]
        x = tl.load(x_ptr + classes * x_class, mask=here & (classes < last), other=float("-inf")).to(tl.float32)
        e = tl.exp2(-tl.abs(x - top) * 1.4426950408889634)
        total = tl.where(x > top, total * e + 1.0, total + e)
        top = tl.maximum(top, x)
    row_top = tl.max(top, axis=1)
    return row_top, tl.sum(total * tl.exp2((top - row_top[:, None]) * 1.4426950408889634), axis=1)

'''

PARTIAL = '''
@triton.jit
def {{ name }}_partial_kernel(
    x_ptr, top_ptr, total_ptr, rows, classes, inner, per_split, x_batch, x_class, x_inner,
    BLOCK_R: tl.constexpr, BLOCK_C: tl.constexpr, STAGES: tl.constexpr,
):
    """Maximum and sum of one part of the classes, for BLOCK_R rows."""
    row = tl.program_id(0) * BLOCK_R + tl.arange(0, BLOCK_R)
    first = tl.program_id(1) * per_split
    at = (row // inner).to(tl.int64) * x_batch + (row % inner).to(tl.int64) * x_inner
    last = tl.minimum(first + per_split, classes)
    here = (row < rows)[:, None]
    top, total = {{ name }}_sweep(x_ptr + at[:, None], here, x_class, first, last, BLOCK_R, BLOCK_C, STAGES)
    tl.store(top_ptr + tl.program_id(1) * rows + row, top, mask=row < rows)
    tl.store(total_ptr + tl.program_id(1) * rows + row, total, mask=row < rows)

'''

ROWS = '''
@triton.jit
def {{ name }}_rows_kernel(
    x_ptr, target_ptr, {{ pointers }}, rows, classes, inner, {{ 'splits, ' if split else '' }}x_batch, x_class, x_inner,
    IGNORE: tl.constexpr, BLOCK_R: tl.constexpr,
    {{ 'SPLITS' if split else 'BLOCK_C: tl.constexpr, STAGES' }}: tl.constexpr,
):
    """{{ purpose }}"""
    row = tl.program_id(0) * BLOCK_R + tl.arange(0, BLOCK_R)
    here = row < rows
    at = (row // inner).to(tl.int64) * x_batch + (row % inner).to(tl.int64) * x_inner
{% if split %}
    part = tl.arange(0, SPLITS)[None, :]
    mask = here[:, None] & (part < splits)
    tops = tl.load(top_ptr + part * rows + row[:, None], mask=mask, other=-3.4e38)
    totals = tl.load(total_ptr + part * rows + row[:, None], mask=mask, other=0.0)
    top = tl.max(tops, axis=1)
    total = tl.sum(totals * tl.exp2((tops - top[:, None]) * 1.4426950408889634), axis=1)
{% else %}
    top, total = {{ name }}_sweep(x_ptr + at[:, None], here[:, None], x_class, 0, classes, BLOCK_R, BLOCK_C, STAGES)
{% endif %}
    target = tl.load(target_ptr + row, mask=here, other=IGNORE)
    counts = (target != IGNORE) & (target >= 0) & (target < classes)
    score = tl.load(x_ptr + at + target * x_class, mask=counts, other=0.0).to(tl.float32)
{% if weighted %}
    share = tl.load(weight_ptr + target, mask=counts, other=0.0).to(tl.float32)
    loss = tl.where(counts, share * (log_f32(total) + (top - score)), 0.0)
{% else %}
    loss = tl.where(counts, log_f32(total) + (top - score), 0.0)
{% endif %}
{% if reduction == 'none' %}
    tl.store(loss_ptr + row, loss, mask=here)
{% else %}
    tl.store(loss_ptr + tl.program_id(0), tl.sum(loss, axis=0))
{% if reduction == 'mean' %}
    tl.store(share_ptr + tl.program_id(0), tl.sum({{ 'share' if weighted else 'counts.to(tl.float32)' }}, axis=0))
{% endif %}
{% endif %}
'''

TOTAL = '''
@triton.jit
def {{ name }}_total_kernel(loss_ptr, {{ 'share_ptr, ' if mean else '' }}out_ptr, parts, BLOCK: tl.constexpr):
    """Add what the programs found, in a fixed order{{ ', and divide by the rows that count' if mean else '' }}."""
    loss = tl.zeros((BLOCK,), tl.float32)
{% if mean %}
    share = tl.zeros((BLOCK,), tl.float32)
{% endif %}
    for start in range(0, parts, BLOCK):
        part = start + tl.arange(0, BLOCK)
        loss += tl.load(loss_ptr + part, mask=part < parts, other=0.0)
{% if mean %}
        share += tl.load(share_ptr + part, mask=part < parts, other=0.0)
    tl.store(out_ptr, tl.sum(loss, axis=0) / tl.sum(share, axis=0))
{% else %}
    tl.store(out_ptr, tl.sum(loss, axis=0))
{% endif %}
'''

HOST = '''
def {{ name }}({{ parameters }}):
    """Cross-entropy of class scores ({{ reduction }} over the rows)."""
    scores, target = {{ x }}, {{ target }}
    x = scores.flatten(2) if scores.dim() > 2 else scores.unsqueeze(-1)  # (batch, class, inner)
    classes, inner, rows = x.shape[1], x.shape[2], target.numel()
    programs = triton.cdiv(rows, {{ meta }}["BLOCK_R"])
    sizes = (rows, classes, inner)
{% if reduction == 'none' %}
    loss = torch.empty(target.shape, device=x.device, dtype=x.dtype)
{% else %}
    loss = torch.empty(programs, device=x.device, dtype=torch.float32)
    out = torch.empty((), device=x.device, dtype=x.dtype)
{% endif %}
{% if reduction == 'mean' %}
    share = torch.empty_like(loss)
{% endif %}
{% if split %}
    per_split = triton.cdiv(classes, {{ parts }} * {{ meta }}["BLOCK_C"]) * {{ meta }}["BLOCK_C"]
    splits = triton.cdiv(classes, per_split)
    top, total = torch.empty((2, splits, rows), device=x.device, dtype=torch.float32)
    {{ name }}_partial_kernel[(programs, splits)](x, top, total, *sizes, per_split, *x.stride(), **{{ meta }})
{% endif %}
    {{ name }}_rows_kernel[(programs,)](
        x, target.contiguous(), {{ tensors }}, *sizes, {{ 'splits, ' if split else '' }}*x.stride(),
        IGNORE={{ ignore }}, {{ tunables }})
{% if reduction == 'none' %}
    return loss
{% else %}
    {{ name }}_total_kernel[(1,)](loss, {{ 'share, ' if mean else '' }}out, programs, BLOCK=4096, num_warps=16)
    return out
{% endif %}
'''


def cross_entropy_source(
    name: str,
    *,
    parameters: str,
    x: str,
    target: str,
    weight: str | None,
    reduction: str,
    ignore: str,
    splits: int,
    meta: dict[str, int],
) -> str:
    """META table, kernels and host function.

    Args:
        x: scores, by name among the parameters; likewise `target` and `weight` (one number a class).
        reduction: `none`, `mean` or `sum`.
        ignore: the class whose rows do not count, as an expression.
        splits: into how many parts the classes are cut; 0 for none.
    """
    split, mean = splits > 0, reduction == "mean"
    table = f"{name.upper()}_META"
    halves = ["top", "total"] if split else []
    tensors = [*halves, *(["weight"] if weight else []), "loss", *(["share"] if mean else [])]
    purpose = "Loss of BLOCK_R rows" + (
        " from the parts of their classes." if split else ", one pass over their scores."
    )
    values = {
        "name": name,
        "parameters": parameters,
        "x": x,
        "target": target,
        "weighted": weight is not None,
        "reduction": reduction,
        "ignore": ignore,
        "split": split,
        "mean": mean,
        "meta": table,
        "parts": f"{name.upper()}_SPLITS",
        "purpose": purpose,
        "pointers": ", ".join(f"{tensor}_ptr" for tensor in tensors),
        "tensors": ", ".join(weight if weight and tensor == "weight" else tensor for tensor in tensors),
        "tunables": f'BLOCK_R={table}["BLOCK_R"], SPLITS=triton.next_power_of_2(splits)' if split else f"**{table}",
    }
    top = meta_table(name, meta) + (f"{name.upper()}_SPLITS = {splits}\n" if split else "")
    parts = (SWEEP, *((PARTIAL,) if split else ()), ROWS, *((TOTAL,) if reduction != "none" else ()), HOST)
    return "\n\n".join((top, *(render(part, **values) for part in parts)))
