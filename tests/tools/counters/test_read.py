"""The table that Nsight Compute writes, whatever stands in it."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from egg.state.metrics import BY_NAME, METRICS, of_stage
from egg.tools.counters.names import ask, ours
from egg.tools.counters.read import base_name, read
from egg.tools.counters.why import refusal, unknown_names, unknown_options

DURATION = "gpu__time_duration.sum"
HEAD = '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size"'
WHERE, ADD = '"41","python3.12","127.0.0.1"', "void at::native::add<float, int>(int, T1)"
RAW = f"""==PROF== Connected to process 41 (/usr/bin/python3.12)
==PROF== Disconnected from process 41
{HEAD},"Device","CC","{DURATION}","launch__registers_per_thread","lts__t_sector_hit_rate.pct","dram__bytes_read.sum"
"","","","","","","","","","","","ns","register/thread","%","byte"
"0",{WHERE},"_rms_norm","1","7","(128, 1, 1)","(8192, 1, 1)","0","9.0","12,345,678","40","n/a","1e9"
"1",{WHERE},"{ADD}","1","7","(128, 1, 1)","(4, 2, 1)","0","9.0","2,016.5","nan","66.25","1; 2; 3"
"""
LONG = f"""{HEAD},"Section Name","Metric Name","Metric Unit","Metric Value"
"0","7","python","here","k","1","7","(128, 1, 1)","(8, 1, 1)","Command line profiler metrics","{DURATION}","ns","5,000"
"0","7","python","here","k","1","7","(128, 1, 1)","(8, 1, 1)","Command line profiler metrics","launch__grid_size","","8"
"""


def test_the_table_of_the_paper() -> None:
    assert sum(metric.paper for metric in METRICS) == 24 and len(BY_NAME) == len(METRICS)
    core = set(of_stage("structure"))
    assert {metric.name for metric in core} == {
        "sm_throughput", "dram_throughput", "l2_hit_rate", "warps_active", "load_bytes_per_sector"
    }  # fmt: skip
    own = {stage: len(set(of_stage(stage)) - core) for stage in ("mapping", "tiling", "memory")}
    assert own == {"mapping": 3, "tiling": 5, "memory": 6}
    names = [name for metric in METRICS for name in (metric.ncu, *metric.also, *(metric.ratio or ()))]
    assert all(name == name.strip() and "__" in name for name in names)
    assert len({*names}) == len([*names]) - 2, "one denominator for three stalls"


def test_a_launch_is_a_row() -> None:
    first, second = read(RAW)
    assert first.kernel == "_rms_norm" and first.grid == (8192, 1, 1)
    assert first.counters == {"duration": 12345678.0, "registers": 40.0, "dram_read_bytes": 1e9}
    assert base_name(second.kernel) == "at::native::add" and second.grid == (4, 2, 1)
    assert second.counters == {"duration": 2016.5, "l2_hit_rate": 66.25}


def test_a_launch_may_be_many_rows() -> None:
    (launch,) = read(LONG)
    assert launch.counters == {"duration": 5000.0, "grid_size": 8.0}


@pytest.mark.parametrize("text", ["", "==ERROR== no", '"ID","Kernel Name"\n', HEAD, f"{HEAD}\n\0\n"])
def test_no_table_is_no_launch(text: str) -> None:
    assert read(text) == ()


@given(st.lists(st.lists(st.text(max_size=20), max_size=14), max_size=6), st.sampled_from([RAW, LONG]))
@example([["9" * 400, "", "", "", "k", "", "", "", "(" + "9" * 400 + ")", "", "", "9" * 400]], RAW)
@example([["0", "", "", "", "k", "", "", "", "(1)", "", "", "1e999", "-5", "1,0", "0x1"]], RAW)
def test_whatever_stands_there_is_read_without_harm(rows: list[list[str]], table: str) -> None:
    junk = "\n".join(",".join(f'"{cell}"' for cell in row) for row in rows)
    for launch in read(table + junk):
        assert all(0 <= value < float("inf") for value in launch.counters.values())


@pytest.mark.parametrize(
    ("name", "base"),
    [
        ("_matmul_kernel", "_matmul_kernel"),
        ("void at::native::(anonymous namespace)::softmax<float, 4>(float*, int)",
         "at::native::{anonymous}::softmax"),
        ("void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm<float>>(Params)", "cutlass::Kernel2"),
        ("Memset (Device)", "Memset"),
        ("operator()", "operator"),
        ("<(", "<("),
        ("", ""),
    ],
)  # fmt: skip
def test_a_kernels_own_name(name: str, base: str) -> None:
    assert base_name(name) == base


def test_names_are_chosen_by_what_the_gpu_has() -> None:
    everything = ask(frozenset())
    assert everything == tuple(name for metric in METRICS for name in (metric.ncu,))
    known = {"gpu__time_duration", "gpu__dram_throughput", "dram__bytes_op_read"}
    few = ask(known)
    assert few[0] == "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"
    assert "dram__bytes_op_read.sum" in few and DURATION in few
    assert all("." not in name or "__sass_" in name or name.partition(".")[0] in known for name in few)
    assert "launch__registers_per_thread" in few
    patched = BY_NAME["load_bytes_per_sector"].ncu
    assert patched in few and patched not in ask(known | {"smsp__sass_inst_executed"})
    stalls = BY_NAME["stall_memory"]
    assert stalls.ratio and {*stalls.ratio} <= {*ask(frozenset(), {stalls.ncu})}
    assert DURATION not in ask(known, {"gpu__time_duration"})


def test_a_stall_may_be_a_quotient() -> None:
    stall = BY_NAME["stall_memory"]
    assert stall.ratio
    over, under = stall.ratio
    assert ours({over: 3.0, under: 12.0}) == {"stall_memory": 25.0}
    assert ours({over: 3.0, under: 0.0}) == {} == ours({over: 3.0})
    assert ours({stall.ncu: 40.0, over: 3.0, under: 12.0}) == {"stall_memory": 40.0}


def test_the_reason_is_one_line() -> None:
    right = refusal("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission\n", "", 1)
    assert right.lasting and "may not read" in right.why
    none = "==WARNING== No kernels were profiled.\n"
    assert refusal(none, "", 0) == ("Nsight Compute saw no kernel", False)
    assert refusal(none, "Traceback\nRuntimeError: no such thing\n", 1).why.endswith(
        "kernel: RuntimeError: no such thing"
    )
    driver = "==ERROR== Nsight Compute failed to connect to the CUDA driver (stub libcuda.so[.1] on path?)."
    assert refusal(none, driver, 1).why == "Nsight Compute cannot reach the CUDA driver"
    assert refusal("", "", None) == ("Nsight Compute took too long", False)
    other = refusal("==ERROR== Failed to create the socket\n==PROF== done\n", "noise\n", 255)
    assert other == ("Nsight Compute ended with 255: Failed to create the socket", False)
    assert "\n" not in refusal("", "Traceback\nValueError: x\x07\n", 1).why


def test_what_it_does_not_know_is_read_off_its_complaint() -> None:
    log = (
        "==ERROR== Failed to find metric regex:^smsp__a_b.pct(\\.(sum|avg))?$\n"
        "==ERROR== Failed to find metric launch__grid_size\n"
        "==ERROR== Failed to find metric regex:^sm__x\\.(sum|min)$"
    )
    assert unknown_names(log) == ("smsp__a_b.pct", "launch__grid_size", "sm__x")
    assert unknown_options("unrecognised option '--config-file'") == ("--config-file",)
