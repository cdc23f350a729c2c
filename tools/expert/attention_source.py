"""Fills the attention templates in: which of them a structure needs, and the words that differ."""

from egg.tools.expert.attention_text import COMBINE, EXTENT, HOST, KERNEL, STEPS
from egg.tools.expert.template import meta_table, render


def attention_source(
    name: str,
    parameters: str,
    scale: str,
    meta: dict[str, int],
    *,
    operands: str = "q, k, v",
    rank: int = 4,
    precision: str | None = None,
    causal: bool = False,
    mask: str | None = None,
    mask_name: str = "mask",
    safe: bool = False,
    pieces: int = 1,
    splits: int = 0,
    grid: str = "blocks_fastest",
    longest_first: bool = False,
    out_layout: str = "heads",
) -> str:
    """META table, kernels and host function.

    Args:
        operands: expressions for q, k and v.
        scale: the factor on the scores, an expression.
        precision: of fp32 dots; None for 16-bit inputs.
        mask: what a true element of the tensor `mask_name` does: `keep`, `drop`; or `add`, an additive one.
        safe: a row that sees no key gives zero instead of NaN.
        splits: into how many parts the keys are cut; 0 for none.
    """
    ids = ("",) if pieces == 1 else ("_lo", "_hi")
    options = f', input_precision="{precision}"' if precision else ""

    def near(x: str) -> str:
        return f"round_tf32({x})" if precision == "tf32" else x

    def dot(a: str, b: str, acc: str | None = None) -> str:
        a, b = near(a), f"{near(b[:-2])}.T" if b.endswith(".T") else near(b)
        return f"tl.dot({a}, {b}{', ' + acc if acc else ''}{options})"

    guard = bool(splits or mask)
    values = dict(
        name=name,
        parameters=parameters,
        scale=scale,
        inputs=operands,
        rank=rank,
        fp32=precision is not None,
        causal=causal,
        mask=mask,
        mask_name=mask_name,
        rank_fix=".transpose(0, 1)" if rank == 3 else "",
        pieces=pieces,
        split=splits > 0,
        grid=grid,
        grid_axes="batches * heads, blocks" if grid == "heads_fastest" else "blocks, batches * heads",
        longest_first=longest_first and causal,
        out_layout=out_layout,
        ids=ids,
        dot=dot,
        guard=guard,
        **_mask_words(mask),
        pivot="pivot" if guard else "new_max",
        meta=f"{name.upper()}_META",
        meta_name=name.upper(),
        divisor="tl.where(row_sum == 0.0, 1.0, row_sum)" if safe and mask else "row_sum",
        results=", ".join(("row_max", "row_sum", *(f"acc{i}" for i in ids))),
        operands=", ".join(
            (*(f"q{i}" for i in ids), "k_ptr", "v_ptr", *(("mask_ptr", "mask_row", "mask_key") if mask else ()))
        ),
        widths=", ".join(f"WIDTH{i}: tl.constexpr" for i in ids),
        pointers=", ".join(
            (*_POINTERS["inputs"], *_POINTERS["mask" if mask else ""], *_POINTERS["split" if splits else "out"])
        ),
        strides=_strides(bool(mask), splits > 0),
        sizes=", ".join(
            ("k_row", "v_row", "n_query", "n_key", "scale", "HEAD", *(f"WIDTH{i}" for i in ids), "BLOCK_N")
        ),
        summary=summary(causal, mask, splits > 0),
    )
    table = meta_table(name, meta) + (f"{name.upper()}_SPLITS = {splits}\n" if splits else "")
    parts = (
        STEPS,
        *((EXTENT,) if mask else ()),
        KERNEL,
        *((COMBINE,) if splits else ()),
        HOST,
    )
    return "\n\n".join((table, *(render(part, **values) for part in parts)))


_POINTERS = {
    "inputs": ("q_ptr", "k_ptr", "v_ptr"),
    "mask": ("mask_ptr", "extent_ptr"),
    "": (),
    "split": ("part_ptr", "max_ptr", "sum_ptr"),
    "out": ("out_ptr",),
}


def _strides(mask: bool, split: bool) -> list[str]:
    tensors = ("q", "k", "v") if split else ("q", "k", "v", "out")
    lines = [", ".join(f"{name}_{axis}" for name in tensors for axis in ("batch", "head", "row"))]
    return [*lines, "mask_batch, mask_head, mask_row, mask_key, extent_batch, extent_head"] if mask else lines


def _mask_words(mask: str | None) -> dict[str, str]:
    """How the kernels test an element of the mask, and what stands for a key past the end."""
    visible = {"keep": "!= 0", "drop": "== 0", "add": '!= float("-inf")'}
    changed = {"keep": "== 0", "drop": "!= 0", "add": "!= 0"}
    hidden = {"keep": "0", "drop": "1", "add": 'float("-inf")'}
    key = mask or "keep"
    return {"test_visible": visible[key], "test_changed": changed[key], "hidden": hidden[key]}


def summary(causal: bool, mask: str | None, split: bool) -> str:
    """One line for docstrings."""
    hidden = ", causal" if causal else ", masked" if mask else ""
    how = "each part of the keys apart, then combined" if split else "one pass over the keys, scores never stored"
    return f"softmax(q @ k.T * scale{hidden}) @ v: {how}."
