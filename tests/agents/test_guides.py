"""The guides: well formed, short, honest about their source, told in their own case and not elsewhere."""

import os
from functools import cache
from pathlib import Path
from typing import get_args

import pytest
from langchain_core.tools import ToolException
from pydantic import ValidationError

from egg.agents.guidebook import ANY, MOST, applying, guides, read
from egg.agents.situation import CLASSES, DRAFTING, WORDS, Situation
from egg.agents.toolbox.probing import guide as guide_tool
from egg.state.bottleneck import BottleneckKind
from egg.state.settings import Policy, Target
from egg.state.stage import GROUPS
from egg.state.status import Status
from egg.tools.expert.kinds import kinds
from tests.agents.positions import POSITIONS
from tests.agents.test_advice import REFUSED

GOLDEN = Path(__file__).parent / "golden" / "guides.txt"
DERIVED = {"torch", "conv", "thin_product", "small", "exact_conv", *CLASSES, *WORDS}
"""Classes beside the kinds of the expert library's regions."""
KNOWN = {
    "stages": set(GROUPS),
    "kinds": DERIVED | {kind.name for kind in kinds()},
    "targets": {target for target in get_args(Target) if target.startswith("sm_")},
    "bottlenecks": set(BottleneckKind),
    "policies": set(Policy),
    "dtypes": {"float32", "float16", "bfloat16", "int8", "uint8", "int32"},
    "statuses": {DRAFTING, *Status} - {Status.OK},
}
SOURCES = ("H200", "Triton 3.6 and 3.9", "CUDA C++", "Triton tutorial", "CUTLASS", "interpreter", "float64")
SOURCES += ("arithmetic", "the judge's", "the gate's", "when a forward pass is recorded")


@cache
def told() -> dict[str, list[str]]:
    """What is told in each position, in order."""
    return {name: [guide.topic for guide in applying(place)] for name, place in POSITIONS.items()}


def test_there_are_guides_for_every_stage_operator_class_generation_bottleneck_and_verdict() -> None:
    assert len(guides()) >= 60
    for facet, values in KNOWN.items():
        named = {value for guide in guides().values() for value in getattr(guide, facet)} - {*ANY}
        assert named <= values, facet
        wanted = values - {"sm_120", "torch", "cheat", "forbidden", "process_limit", "disk_limit", "output_limit"}
        assert wanted <= named, (facet, wanted - named)


@pytest.mark.parametrize("topic", guides())
def test_a_guide_is_short_says_how_to_check_and_names_its_source(topic: str) -> None:
    guide = guides()[topic]
    assert len(guide.title) <= 120 and len(guide.text) <= 900
    assert "\n\nCheck: " in guide.text
    assert any(source in guide.verified for source in SOURCES), guide.verified
    assert not any(path in guide.text + guide.verified for path in ("/work", "h200-", ".md"))


def test_what_is_told_in_each_position_is_as_reviewed() -> None:
    text = "\n".join(f"{name}: {', '.join(topics)}" for name, topics in told().items()) + "\n"
    if os.environ.get("EGG_UPDATE_GOLDEN"):
        GOLDEN.write_text(text)
    assert text == GOLDEN.read_text()
    assert all(0 < len(topics) <= MOST for topics in told().values())


@pytest.mark.parametrize("topic", guides())
def test_a_guide_is_told_in_its_case_and_not_elsewhere(topic: str) -> None:
    """Told somewhere; and where it is told, no longer once any one thing that it names is otherwise."""
    guide = guides()[topic]
    places = [place for name, place in POSITIONS.items() if topic in told()[name]]
    assert places or topic in REFUSED, "no position is its case"
    for place in places:
        for other in elsewhere(topic, place):
            assert not guide.applies(other), other
    assert len(places) <= len(POSITIONS) // 3


def elsewhere(topic: str, place: Situation) -> list[Situation]:
    """The same place but for one facet that the guide names."""
    guide = guides()[topic]
    changes: list[dict[str, object]] = [{"group": group} for group in GROUPS if group not in guide.stages]
    changes += [{"status": "ok"}]
    facets = {"kinds": (), "bottlenecks": (), "dtypes": ("float64",), "target": "sm_75", "policy": "?"}
    names = {"target": "targets", "policy": "policies"}
    changes += [{f: value} for f, value in facets.items() if getattr(guide, names.get(f, f)) != ANY]
    changes += [{"feedback": "it is not well"}] if guide.says else []
    return [place.model_copy(update=change) for change in changes]


def test_the_narrower_comes_first() -> None:
    widths = [guide.narrowness for guide in applying(POSITIONS["fp32 product, H200"])]
    assert widths == sorted(widths, reverse=True) and widths[0] > widths[-1]
    assert applying(POSITIONS["stop"])[0].topic == "at-the-ceiling"
    assert "sixteen-warps" not in {g.topic for g in applying(POSITIONS["tile a product, A100"])}


def test_numbers_of_one_generation_are_not_told_of_the_next() -> None:
    place = POSITIONS["memory of a half product"]
    hopper, blackwell = (
        {guide.topic for guide in applying(place.model_copy(update={"target": target}))}
        for target in ("sm_90", "sm_100")
    )
    assert "stages-hopper" in hopper and "stages-hopper" not in blackwell


def test_of_amds_gpus_only_the_language_is_known() -> None:
    other = {"target": "gfx942"}
    assert not any(applying(place.model_copy(update=other)) for place in POSITIONS.values() if place.status == "none")
    assert applying(POSITIONS["wrong norm"].model_copy(update=other))


def test_a_draft_that_is_repaired_gets_repairs_and_no_tuning() -> None:
    for place in POSITIONS.values():
        assert all(place.status in guide.statuses for guide in applying(place))


def test_a_field_too_few_or_words_without_a_verdict_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.md"
    path.write_text("---\ntitle: T\nstages: memory\nkinds: any\ntargets: any\nbottlenecks: any\n---\ntext\n")
    with pytest.raises(ValidationError, match="verified"):
        read(path)
    path.write_text(path.read_text().replace("kinds:", "verified: by an H200\nsays: x\nkinds:"))
    with pytest.raises(ValidationError, match="feedback"):
        read(path)


def test_the_tool_gives_advice_with_its_source_and_helps_with_a_misspelt_topic() -> None:
    text, artifact = guide_tool.func("sixteen-warps")
    assert "convert_layout" in text and "How it is known: measured on an H200" in text
    assert artifact == {"topic": "sixteen-warps"}
    with pytest.raises(ToolException, match="near it: .*sixteen-warps"):
        guide_tool.func("sixteen-warp")
