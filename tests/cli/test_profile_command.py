"""`egg profile`: where the time goes, as a table, as JSON, as a picture."""

import sys
from pathlib import Path

import pytest

from egg.profiling import print_profile
from egg.state.bottleneck import BottleneckKind
from egg.state.errors import UserError
from egg.state.profiled import Profiled
from egg.tools.diagnosis import diagnose
from egg.tools.picture import save_roofline
from egg.tools.place import place
from tests.cli.make import egg, problem
from tests.cli.test_check import KERNEL
from tests.tools.test_bottleneck import H200, MEASURED, PRODUCT, STREAM, kernel
from tests.tools.test_place import WORKLOAD, profiled


@pytest.fixture
def measured() -> Profiled:
    """Two kernels of a candidate and one of a library, as an H200 might show them."""
    product = kernel(PRODUCT, 0.5, share=0.5)
    library = kernel(None, 0.25, share=0.25).model_copy(update={"kernel": "void at::native::" + "x" * 200})
    found = profiled(product, kernel(STREAM, 0.25, share=0.25), library)
    return Profiled(
        problem="toy",
        problem_digest="d",
        kernel="kernel.py",
        kernel_digest="d",
        policy="tf32",
        device=H200.model_copy(update={"present": True}),
        ceilings=MEASURED,
        profile=diagnose(found, WORKLOAD, H200, "tf32", MEASURED),
        egg_version="0",
        seconds=1.0,
    )


def test_json_of_a_kernel_without_a_gpu(tmp_path, monkeypatch, capsys):
    file = tmp_path / "kernel.py"
    file.write_text(KERNEL)
    assert egg(monkeypatch, "profile", problem(tmp_path), file, "--target", "sm_90", "--json") == 0
    found = Profiled.model_validate_json(capsys.readouterr().out)
    (only,) = found.profile.kernels
    assert (only.kernel, only.own, only.calls) == ("scaled_silu", True, 1)
    assert only.launch and only.launch.registers > 0 and only.place and only.place.bytes > 2 * 4 * 2048 * 1000
    if not found.device.present:
        assert (found.profile.source, only.measured, found.ceilings.measured) == ("estimate", False, False)


def test_a_kernel_that_does_not_compile_is_one_line(tmp_path, monkeypatch, capsys):
    file = tmp_path / "kernel.py"
    file.write_text(KERNEL.replace("tl.sigmoid", "tl.sigmoyd"))
    assert egg(monkeypatch, "profile", problem(tmp_path), file, "--target", "sm_90") == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1 and "compile_error" in told and "egg check" in told


def test_the_table_says_what_holds_it_back_and_where_to_stop(measured: Profiled, capsys):
    print_profile(measured, as_json=False)
    told = " ".join(capsys.readouterr().out.split())
    assert "product 1 0.5 ms 50.0% 70 % compute 168 98.3 kB 12% shared 8.00" in told
    assert "at::native::xxx" in told and "x… (library) 1 0.25 ms 25.0% – – – – –" in told
    assert (
        "Bound by product: compute (tf32): its tf32 arithmetic, of the ceiling 70.1 % (≥ 60 %); stage structure" in told
    )
    assert "Stop stream: at ceiling (memory)" in told and "measured, without hardware counters" in told
    assert "Ceilings 4.3 TB/s of device memory, 11 TB/s of L2; test" in told


@pytest.mark.parametrize("suffix", [".svg", ".png"])
def test_the_picture_shows_every_kernel_that_has_a_place(measured: Profiled, tmp_path: Path, suffix: str):
    file = tmp_path / f"roofline{suffix}"
    save_roofline(measured, file)
    drawn = file.read_bytes()
    if suffix == ".png":
        assert drawn.startswith(b"\x89PNG")
        return
    text = drawn.decode()
    for said in (
        "product: at 70 % of the tf32 arithmetic ceiling",
        "stream: at 93 % of the memory ceiling",
        "4.3 TB/s",
    ):
        assert f"<!-- {said}" in text or said in text
    assert "the whole pass" in text and "xxx" not in text


def test_pictures_that_cannot_be_are_one_line(measured: Profiled, tmp_path: Path, monkeypatch):
    with pytest.raises(UserError, match="pictures end in .svg"):
        save_roofline(measured, tmp_path / "roofline.bmp")
    with pytest.raises(UserError, match="cannot be written"):
        save_roofline(measured, tmp_path / "no" / "roofline.svg")
    nothing = measured.profile.model_copy(update={"kernels": (), "forward": None})
    with pytest.raises(UserError, match="no kernel has both"):
        save_roofline(measured.model_copy(update={"profile": nothing}), tmp_path / "roofline.svg")
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(UserError, match=r"pip install 'egg-kernels\[report\]'"):
        save_roofline(measured, tmp_path / "roofline.svg")


def test_bottlenecks_are_kept_with_the_profile(measured: Profiled):
    kinds = [bottleneck.kind for bottleneck in measured.profile.bottlenecks]
    assert kinds == [BottleneckKind.COMPUTE, BottleneckKind.AT_CEILING]
    assert Profiled.model_validate_json(measured.model_dump_json()) == measured
    assert place(kernel(PRODUCT, 0.5), H200, MEASURED) == measured.profile.kernels[0].place
