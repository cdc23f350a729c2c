"""A brief to give an agent."""

from pathlib import Path

from egg.state.device import Device
from egg.state.evaluation import Baseline
from egg.state.problem import Problem, Region, TensorSpec, Workload
from egg.state.run import AgentState
from egg.state.settings import Settings
from egg.state.stage import StageSpec
from egg.state.usage import Usage


def seed_state(run_dir: Path) -> AgentState:
    """A seed's brief for a LayerNorm problem, with nothing drafted yet."""
    source = (Path(__file__).parents[2] / "evals" / "problems" / "layernorm_gelu.py").read_text()
    tensor = TensorSpec(shape=(4096, 1024), dtype="float32")
    return AgentState(
        run_dir=str(run_dir),
        settings=Settings(),
        problem=Problem(name="layernorm_gelu", path="layernorm_gelu.py", source=source, digest="d"),
        workload=Workload(
            inputs=(tensor,),
            outputs=(tensor,),
            parameters=2048,
            flops=60_000_000,
            matmul_flops=0,
            min_bytes=33_562_624,
            regions=(Region(name="r0_layer_norm", kind="normalisation", ops=("aten.native_layer_norm", "aten.gelu")),),
            structures=("fused_one_pass", "fused_two_pass"),
        ),
        device=Device(
            name="NVIDIA H200",
            target="sm_90",
            present=False,
            multiprocessors=132,
            shared_bytes=232_448,
            shared_bytes_sm=233_472,
            registers_sm=65_536,
            threads_sm=2048,
            blocks_sm=32,
            l2_bytes=52_428_800,
            memory_bytes=151_000_000_000,
            bandwidth=4.8e12,
            peak={"fp32": 6.7e13, "tf32": 4.947e14, "fp16": 9.894e14, "bf16": 9.894e14, "int8": 1.979e15},
            rates_from="datasheet",
            software={"torch": "2.13.0"},
        ),
        baseline=Baseline(roofline_ms=0.007, bound="memory", note="no GPU"),
        spec=StageSpec(
            name="seed",
            step=1,
            group="structure",
            goal="Write a correct kernel.",
            metrics=("launches", "bytes"),
            rounds=2,
            repairs=3,
            min_gain=0.0,
        ),
        branch="seed-1",
        structure="fused_one_pass",
        history=(),
        spent=Usage(),
        incumbent=None,
        elapsed_ms=0,
        round=0,
        repair=0,
        attempts=(),
    )
