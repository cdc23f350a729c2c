"""The guides: well formed, found by the stages they are for, and short."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from egg.agents.guidebook import applying, guides, read
from egg.state.run import AgentState
from egg.state.stage import GROUPS


def test_every_guide_says_where_it_applies_and_how_it_was_verified() -> None:
    assert len(guides()) >= 5
    for guide in guides().values():
        assert set(guide.stages) <= set(GROUPS)
        assert len(guide.verified) > 20
        assert "\nCheck: " in guide.text
        assert len(guide.text) < 3000


def test_selection_is_by_stage_kind_and_target(state: AgentState) -> None:
    tiling = state["spec"].model_copy(update={"group": "tiling"})
    assert {g.topic for g in applying(tiling, ["softmax"], "sm_90")} == {"tiling-rows", "repair"}
    assert {g.topic for g in applying(tiling, ["gemm"], "sm_90")} == {"tiling-products", "repair"}
    assert {g.topic for g in applying(tiling, ["gemm"], "sm_120")} == {"repair"}


def test_a_field_too_few_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.md"
    path.write_text("---\ntitle: T\nstages: memory\nkinds: any\ntargets: any\n---\ntext\n")
    with pytest.raises(ValidationError, match="verified"):
        read(path)
