"""Notes of what a forward pass does: the same on all devices, different for what differs."""

from egg.tools.sandbox.client import run

MODEL = """
import torch
import torch.nn.functional as F

class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.zeros_like(x).copy_(x).view(5, 3)
        {body}
"""
KERNEL = """
SIZE = {size}
def other(x):
    return {other}
def kernel(x):
    return x + SIZE
"""


def noted(body: str) -> tuple[list[str], list[str]]:
    told = run("tests.tools.tasks.noted_child:noted", {"source": MODEL.format(body=body)}).require("noting")
    here, without_data = told["done"]
    return here, without_data


def test_moving_is_no_work() -> None:
    assert noted("return y.contiguous()") == ([], [])


def test_functions_are_the_same_whatever_they_consist_of() -> None:
    body = "return F.scaled_dot_product_attention(y[None], y[None], y[None]), torch.relu_(y), y @ y.T"
    here, without_data = noted(body)
    assert here == without_data and len(here) == 3


def test_sizes_tell() -> None:
    here, without_data = noted("return y + 1 if x.device.type == 'meta' else y[:1] + 1")
    assert here and without_data and here != without_data


def test_what_a_gpu_has_not_is_kept_from_the_candidate() -> None:
    for call in ("y.numpy()", "y.__array__()"):
        reply = run("tests.tools.tasks.noted_child:noted", {"source": MODEL.format(body=f"return {call}")})
        assert reply.value["type"] == "TypeError" and "cuda" in reply.error


def test_what_a_kernel_reads_belongs_to_it() -> None:
    sources = [KERNEL.format(size=size, other=other) for size, other in ((1, 1), (1, 2), (2, 1))]
    first, same, changed = run("tests.tools.tasks.noted_child:identified", {"sources": sources}).require("")["names"]
    assert first == same != changed
