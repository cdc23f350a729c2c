"""Kill -9 inside every node in turn: the run ends with the same kernel, and pays for nothing twice."""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from egg.replaying import replay
from tests.graph import killer

ROOT = Path(__file__).parents[2]
PROBLEM = '''"""A fused multiply-add with SiLU."""
import torch
from torch import nn

ROWS = 4096
COLUMNS = 1000

class Model(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(columns))

    def forward(self, x):
        return torch.nn.functional.silu(x * self.weight)

def get_inputs():
    return [torch.rand(ROWS, COLUMNS)]

def get_init_inputs():
    return [COLUMNS]
'''


CHAOTIC = PROBLEM.replace("torch.nn.functional.silu(x * self.weight)", "torch.sin(1e8 * x * self.weight)")
"""No float32 is near the exact value, so every draft goes to the debug agent, and the reference stays."""
WHOLE = {"baseline", "choose", "confirm", "intake", "mapping", "memory", "memory/settle", "report", "seed", "tiling"}
WHOLE |= {f"{stage}/{node}" for stage in ("seed", "mapping") for node in ("open", "settle")}
WHOLE |= {"seed/profile/model", "mapping/search"}
WHOLE |= {f"seed/{node}" for node in ("judge", "code/brief", "code/model", "code/tools", "code/answer")}
REPAIR = {
    "intake",
    "seed/judge",
    "seed/debug/brief",
    "seed/debug/model",
    "seed/debug/tools",
    "seed/debug/answer",
    "seed/abandon",
}


def go(run_dir: Path, problem: Path, cache: Path) -> None:
    """All lives of the run, to its end."""
    env = {**os.environ, "EGG_CACHE_DIR": str(cache), "PYTHONPATH": str(ROOT), "LANGGRAPH_STRICT_MSGPACK": "true"}
    lives = [sys.executable, killer.__file__, str(run_dir), str(problem)]
    subprocess.run(lives, env=env, cwd=run_dir.parent, timeout=900, check=True)


def journal(run_dir: Path) -> list[tuple[str, str]]:
    """The work that was really done, as (kind, key)."""
    lines = (run_dir / "journal.jsonl").read_text().splitlines()
    return [(entry["kind"], entry["key"]) for entry in map(json.loads, lines)]


@pytest.mark.slow
@pytest.mark.parametrize(("source", "walked"), [(PROBLEM, WHOLE), (CHAOTIC, REPAIR)], ids=["whole", "repair"])
def test_killed_in_every_node(tmp_path, source, walked):
    problem = tmp_path / "silu.py"
    problem.write_text(source)
    calm, stormy = tmp_path / "calm", tmp_path / "stormy"

    calm.mkdir()
    (calm / "killed").write_text("\n".join(all_nodes()))
    go(calm, problem, tmp_path / "cache-calm")

    go(stormy, problem, tmp_path / "cache-stormy")
    killed = (stormy / "killed").read_text().splitlines()
    assert len(killed) == len(set(killed))
    assert walked <= set(killed)

    assert (stormy / "kernel.py").read_text() == (calm / "kernel.py").read_text()
    assert tuning_calls(calm) <= 3
    work, done = journal(stormy), kept(stormy, tmp_path / "cache-stormy")
    assert max(Counter(work).values()) == 1
    assert done == kept(calm, tmp_path / "cache-calm")
    assert Counter(kind for kind, _ in work) <= done
    assert replay(str(stormy)).differences == []


def kept(run_dir: Path, cache: Path) -> Counter[str]:
    """How many results there are of each kind of work. The journal may lack the line of one: whoever is killed in one
    branch just after another has kept its result leaves no time to note it."""
    results = [file.relative_to(cache).parts[0] for file in cache.rglob("*.json")]
    return Counter(results) + Counter(model=len((run_dir / "exchanges.jsonl").read_text().splitlines()))


def tuning_calls(run_dir: Path) -> int:
    """Model calls of the three tuning stages together: one each, since the numbers are found by machine."""
    usage = json.loads((run_dir / "evidence.json").read_text())["usage"]["by_agent"]
    return sum(spend["calls"] for name, spend in usage.items() if name.split("/")[0] in ("mapping", "tiling", "memory"))


def all_nodes() -> list[str]:
    """Every path in the drawn graph, so that the calm run dies nowhere."""
    from egg.graph.app import build_graph

    drawn = build_graph().get_graph(xray=True)
    inner = [node.replace(":", "/") for node in drawn.nodes]
    outer = {"/".join(path.split("/")[:depth]) for path in inner for depth in range(1, path.count("/") + 1)}
    return sorted({*inner, *outer})
