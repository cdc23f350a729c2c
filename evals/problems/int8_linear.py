"""Linear layer whose int8 weight is scaled back for each output, on float16 activations."""

import torch
import torch.nn as nn

ROWS = 2048
IN_FEATURES = 4096
OUT_FEATURES = 4096


class Model(nn.Module):
    def __init__(self, in_features: int, out_features: int) -> None:
        super().__init__()
        self.register_buffer("weight", torch.randint(-127, 128, (out_features, in_features), dtype=torch.int8))
        self.register_buffer("scale", (torch.rand(out_features, 1) * 0.001 + 0.0005).half())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        weight = self.weight.to(x.dtype) * self.scale
        return torch.matmul(x, weight.t())


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(ROWS, IN_FEATURES, dtype=torch.float16)]


def get_init_inputs() -> list[int]:
    return [IN_FEATURES, OUT_FEATURES]
