"""Problems around attention, rotary embeddings, losses and running sums, small enough for the interpreter."""

from egg.state.problem import Problem

HEAD = "import math\nimport torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"


def _problem(name: str, forward: str, inputs: str, init: str = "pass", small: dict[str, int] | None = None) -> Problem:
    """`forward` is the method whole; the constants B, H, T, D are the sizes."""
    sizes = {"B": 2, "H": 4, "T": 256, "D": 64}
    little = {**sizes, "B": 1, "H": 2, "T": 37, **(small or {})}

    def text(values: dict[str, int]) -> str:
        constants = "".join(f"{key} = {value}\n" for key, value in values.items())
        begin = "class Model(nn.Module):\n    def __init__(self, heads, size, tokens):\n        super().__init__()\n"
        model = f"{begin}        {init}\n\n{forward}"
        functions = f"def get_inputs():\n    return {inputs}\n\n\ndef get_init_inputs():\n    return [H, H * D, T]\n"
        return f"{HEAD}{constants}\n\n{model}\n\n{functions}"

    return Problem(
        name=name, path=f"{name}.py", source=text(sizes), small_source=text(little), small_constants=little, digest=name
    )


QKV = "[torch.randn(B, H, T, D) for _ in range(3)]"
HALF = "[torch.randn(B, H, T, D, dtype=torch.float16) for _ in range(3)]"

CAUSAL = _problem(
    "causal",
    """    def forward(self, q, k, v):
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)
""",
    QKV,
)
HEAD_96 = _problem(
    "head_96",
    """    def forward(self, q, k, v):
        return F.scaled_dot_product_attention(q, k, v, scale=0.2)
""",
    HALF,
    small={"D": 96},
)
GPT = _problem(
    "gpt",
    """    def forward(self, x):
        batch, tokens, size = x.shape
        parts = self.qkv(x).split(size, dim=2)
        q, k, v = (part.view(batch, tokens, self.heads, size // self.heads).transpose(1, 2) for part in parts)
        scores = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        scores = scores.masked_fill(self.mask[:, :, :tokens, :tokens] == 0, float("-inf"))
        mixed = F.softmax(scores, dim=-1) @ v
        return mixed.transpose(1, 2).contiguous().view(x.shape)
""",
    "[torch.randn(B, T, H * D)]",
    """self.heads = heads
        self.qkv = nn.Linear(size, 3 * size)
        self.register_buffer("mask", torch.tril(torch.ones(tokens + 3, tokens + 3))[None, None])""",
    small={"D": 16},
)
TRIANGLE = _problem(
    "triangle",
    """    def forward(self, q, k, v):
        hidden = torch.triu(torch.ones(q.shape[1], k.shape[1], dtype=torch.bool), diagonal=1)
        scores = (torch.bmm(q, k.transpose(1, 2)) / 4.0).masked_fill(hidden, float("-inf"))
        return torch.bmm(torch.softmax(scores, dim=-1), v)
""",
    "[torch.randn(H, T, D) for _ in range(3)]",
)
MASKED = _problem(
    "masked",
    """    def forward(self, q, k, v, mask):
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
""",
    QKV[:-1].replace("[", "[*[", 1) + "], torch.rand(T, T) > 0.3]",
)
BIASED = _problem(
    "biased",
    """    def forward(self, q, k, v, bias):
        return torch.softmax(q @ k.mT * 0.3 + bias, dim=-1) @ v
""",
    QKV[:-1].replace("[", "[*[", 1) + "], torch.randn(H, T, T)]",
)
ROTARY = _problem(
    "rotary",
    """    def forward(self, q, cos, sin):
        half = q.shape[-1] // 2
        turned = torch.cat((-q[..., half:], q[..., :half]), dim=-1)
        return q * cos + turned * sin
""",
    "[torch.randn(B, T, H, D).transpose(1, 2), torch.randn(T, D), torch.randn(1, T, D)]",
)
ROTARY_PAIRS = _problem(
    "rotary_pairs",
    """    def forward(self, x, cos, sin):
        turned = torch.stack((-x[..., 1::2], x[..., ::2]), dim=-1).flatten(-2)
        return x * cos + turned * sin
""",
    "[torch.randn(B, H, T, D), torch.randn(T, D), torch.randn(T, D)]",
)
LOSS = _problem(
    "loss",
    """    def forward(self, scores, targets):
        return F.cross_entropy(scores, torch.where(targets < 5, -100, targets))
""",
    "[3.0 * torch.randn(H * T, 40 * T), torch.randint(0, 40 * T, (H * T,))]",
)
LOSS_PIXELS = _problem(
    "loss_pixels",
    """    def forward(self, scores, targets):
        return F.cross_entropy(scores, targets, weight=self.weight, reduction="none")
""",
    "[torch.randn(B, 19, H, T), torch.randint(0, 19, (B, H, T))]",
    'self.register_buffer("weight", torch.rand(19))',
)
NLL = _problem(
    "nll",
    """    def forward(self, scores, targets):
        return F.nll_loss(F.log_softmax(scores, dim=-1), targets, reduction="sum")
""",
    "[torch.randn(H * T, 40 * T), torch.randint(0, 40 * T, (H * T,))]",
)
RUNNING = _problem(
    "running",
    """    def forward(self, x, gate):
        return torch.relu(torch.cumsum(x * torch.sigmoid(gate), dim=1)) * 2.0
""",
    "[torch.randn(B * H, 32 * T), torch.randn(B * H, 32 * T)]",
)
RUNNING_MIDDLE = _problem(
    "running_middle",
    """    def forward(self, x, shift):
        return torch.cumsum(x + shift, dim=1)
""",
    "[torch.randn(B, T, D), torch.randn(D)]",
)
POOLED = _problem(
    "pooled",
    """    def forward(self, x, shift):
        return F.hardswish(F.max_pool2d(x, kernel_size=3, stride=2, padding=1)) + shift
""",
    "[torch.randn(B, H, T, D), torch.randn(H, 1, 1)]",
)
POOLED_MEAN = _problem(
    "pooled_mean",
    """    def forward(self, x):
        return torch.relu(F.avg_pool2d(x, kernel_size=(2, 3), stride=2, padding=1, count_include_pad=False))
""",
    "[torch.randn(B, H, T, D)]",
)
