"""Problem sources for tests of the expert library: each a full size and a small one."""

from hashlib import sha256

from egg.state.device import Device
from egg.state.problem import Problem

DEVICE = Device(
    name="H200",
    target="sm_90",
    present=False,
    multiprocessors=132,
    shared_bytes=232448,
    shared_bytes_sm=233472,
    registers_sm=65536,
    threads_sm=2048,
    blocks_sm=32,
    l2_bytes=50 << 20,
    memory_bytes=141 << 30,
    bandwidth=4.8e12,
    peak={"fp32": 67e12, "tf32": 494e12, "fp16": 989e12, "bf16": 989e12},
    rates_from="datasheet",
    software={},
)

HEAD = "import math\nimport torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\n"


def problem(body: str, full: str, small: str) -> Problem:
    """`full` and `small` are lines of constants; `body` defines Model, get_inputs and get_init_inputs."""
    source = f"{HEAD}{full}\n\n{body}"
    return Problem(
        name="tested",
        path="tested.py",
        source=source,
        small_source=f"{HEAD}{small}\n\n{body}",
        digest=sha256(source.encode()).hexdigest(),
    )


CHAIN = problem(
    '''
class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.bias = nn.Parameter(torch.randn(width))

    def forward(self, x):
        return F.gelu(x + self.bias) * torch.tensor(2.0)


class Model(nn.Module):
    """All that can go wrong in one forward: nesting, views, scales that follow the sizes, a convolution, in-place."""

    def __init__(s, width, heads):
        super(Model, s).__init__()
        s.blocks = nn.ModuleList([Block(width) for _ in range(2)])
        s.scale = nn.Parameter(torch.rand(heads, 1) + 1.0)
        s.conv = nn.Conv1d(heads, heads, 3, padding=1)
        s.heads = heads
        s.act = nn.ReLU(inplace=True)
        s.init_weights()

    def init_weights(s):
        nn.init.uniform_(s.conv.weight)

    def forward(s, x, y):
        z = s.blocks[1](s.blocks[0](x)) + y
        rows, width = x.shape
        z = z.view(rows, s.heads, width // s.heads)
        z = torch.sigmoid(z * s.scale) / math.sqrt(width // s.heads)
        c = s.act(s.conv(z))
        return {"a": c + z, "b": [z.transpose(1, 2), x > 0.1]}


def get_inputs():
    return [torch.randn(ROWS, WIDTH), torch.randn(ROWS, WIDTH)]


def get_init_inputs():
    return [WIDTH, HEADS]
''',
    "ROWS, WIDTH, HEADS = 4096, 2048, 16",
    "ROWS, WIDTH, HEADS = 7, 33, 3",
)

COLLAPSE = problem(
    """
class Model(nn.Module):
    def __init__(self, width, out):
        super().__init__()
        self.linear = nn.Linear(width, out)

    def forward(self, x):
        return self.linear(torch.relu(x)).mean(dim=-1), self.linear(x).sum(1, keepdim=True)


def get_inputs():
    return [torch.randn(ROWS, WIDTH)]


def get_init_inputs():
    return [WIDTH, OUT]
""",
    "ROWS, WIDTH, OUT = 4096, 2048, 1024",
    "ROWS, WIDTH, OUT = 7, 33, 19",
)

UNTRACEABLE = problem(
    """
class Model(nn.Module):
    def forward(self, x):
        return x * 2 if x.sum() > 0 else x - 1


def get_inputs():
    return [torch.randn(ROWS)]


def get_init_inputs():
    return []
""",
    "ROWS = 4096",
    "ROWS = 33",
)

AWKWARD = problem(
    """
class Model(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.qkv = nn.Linear(width, 3 * width)
        self.heads = heads
        self.norm = nn.BatchNorm1d(width)
        self.drop = nn.Dropout(0.2)

    def forward(self, x):
        a, b, c = self.qkv(x).chunk(3, -1)
        u = torch.relu(a) * b
        d, e = u.split(u.shape[1] // 2, 1)
        y = x.clone()
        before = y * 3
        y[:, 0] = 0
        y += 1
        first, second = self.drop(x), self.drop(y)
        heads = c.view(-1, self.heads, c.shape[-1] // self.heads)
        return d + e.sigmoid(), heads, before, y * 2, torch.sort(x)[0], first + second, self.norm(x)


def get_inputs():
    return [torch.randn(ROWS, WIDTH)]


def get_init_inputs():
    return [WIDTH, HEADS]
""",
    "ROWS, WIDTH, HEADS = 512, 1024, 8",
    "ROWS, WIDTH, HEADS = 14, 12, 3",
)
