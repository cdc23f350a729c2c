"""Settings as older checkpoints hold them, and the form that Studio makes of a run's input."""

from egg.state.backbone import Backbone, RoleBackbone, Roles, Sampling
from egg.state.run import RunInput
from egg.state.settings import Settings
from egg.state.usage import Spend


def test_settings_of_before_there_were_roles_can_be_read():
    old = {
        "model": "openai:gpt-5.1",
        "base_url": None,
        "seeds": 2,
        "policy": "stock",
        "target": "sm_90",
        "limits": {"calls": 200, "tokens": 400000, "minutes": 60.0},
    }
    settings = Settings.model_validate(old)
    assert settings.backbone("code") == Backbone(model="openai:gpt-5.1")
    assert Spend.model_validate({"calls": 1, "input_tokens": 2, "output_tokens": 3, "model_ms": 4}).retries == 0

    assert settings.played_by == "`openai:gpt-5.1`"
    mixed = settings.model_copy(update={"roles": Roles(debug=RoleBackbone(model="rulebook"))})
    assert mixed.played_by == "code `openai:gpt-5.1`, profile `openai:gpt-5.1`, debug `rulebook`"


def test_the_form_offers_a_group_for_each_role():
    schema = RunInput.model_json_schema()
    roles = schema["$defs"]["Roles"]["properties"]
    assert set(roles) == {"code", "profile", "debug"}
    fields = schema["$defs"]["RoleBackbone"]["properties"]
    assert set(fields) == {"model", "base_url", "protocol", "temperature", "effort", "max_output"}
    assert schema["$defs"]["Protocol"]["enum"] == ["tools", "text"]
    assert schema["properties"]["temperature"]["description"]
    request = RunInput(problem_file="p.py", model="openai:x", temperature=0.5, effort="low", max_output=9)
    assert request.settings.sampling == Sampling(temperature=0.5, effort="low", max_output=9)
    assert len(request.model_dump_json()) < 1000
