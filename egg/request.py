"""From the command line's options to a run's input, refusing early what can be refused early."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from egg.agents.backbone import check_backbone
from egg.agents.prices import check_priced
from egg.agents.replayed import recording
from egg.state.backbone import REPLAY, ROLES, Backbone
from egg.state.errors import UserError
from egg.state.run import RunInput
from egg.state.settings import Settings


def validated(problem: str, options: dict[str, Any]) -> RunInput:
    """A run's input, with absolute paths so that it can be resumed from anywhere.

    Raises:
        UserError: for any option that cannot be, one line each; nothing has been written.
    """
    path = Path(problem)
    if not path.is_file():
        what = "is a folder" if path.is_dir() else "does not exist"
        raise UserError(f"{problem} {what}: give a Python file with Model, get_inputs and get_init_inputs")
    if "model" in options:
        options = {**options, "model": _lasting(options["model"])}
    try:
        request = RunInput(problem_file=str(path.absolute()), **options)
    except ValidationError as error:
        raise UserError(_first(error)) from None
    check_backbone(request.settings)
    check_priced(request.settings)
    return request


def of_roles(given: Sequence[str]) -> dict[str, dict[str, str]]:
    """`debug.model=openai:NAME` and its like as the input's `roles`.

    Raises:
        UserError: for one that is written otherwise.
    """
    roles: dict[str, dict[str, str]] = {}
    for text in given:
        match = re.fullmatch(rf"({'|'.join(ROLES)})\.([\w-]+)=(.+)", text)
        if match is None:
            raise UserError(f"--role {text}: write ROLE.OPTION=VALUE with a role of {', '.join(ROLES)}")
        role, option, value = match.groups()
        roles.setdefault(role, {})[option.replace("-", "_")] = _lasting(value) if option == "model" else value
    return roles


def settings_with(options: dict[str, Any]) -> Settings:
    """Settings of a backbone alone.

    Raises:
        UserError: for an option that cannot be.
    """
    try:
        return Settings.model_validate({name: value for name, value in options.items() if value is not None})
    except ValidationError as error:
        raise UserError(_first(error)) from None


def other_backbone(model: str | None, options: dict[str, Any]) -> Backbone | None:
    """What a resumed run is to go on with, if that is another model than before.

    Raises:
        UserError: for a model that cannot be used, or options without one.
    """
    given = {name: value for name, value in options.items() if value is not None}
    if model is None:
        if given:
            raise UserError(f"--{next(iter(given)).replace('_', '-')} goes with --model, the model to go on with")
        return None
    try:
        backbone = Backbone(model=_lasting(model), **given)
    except ValidationError as error:
        raise UserError(_first(error)) from None
    check_backbone(Settings().asking_by(backbone))
    return backbone


def _lasting(model: str) -> str:
    """The model, a recording by its whole path, so that the run can be resumed from anywhere."""
    provider, _, name = model.partition(":")
    return f"{REPLAY}:{recording(name)}" if provider == REPLAY else model


def _first(error: ValidationError) -> str:
    """`--target: Input should be 'sm_80', ..., not sm_00`."""
    fault = error.errors()[0]
    names = [str(part).replace("_", "-") for part in fault["loc"]]
    option = f"--role {'.'.join(names[1:])}" if names[0] == "roles" else f"--{names[0]}"
    return f"{option}: {fault['msg'][0].lower()}{fault['msg'][1:]}, not {fault['input']}"
