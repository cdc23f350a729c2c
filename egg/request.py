"""From the command line's options to a run's input, refusing early what can be refused early."""

from pathlib import Path
from typing import Any

from pydantic import ValidationError

from egg.agents.backbone import check_backbone
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
    try:
        request = RunInput(problem_file=str(path.absolute()), **options)
    except ValidationError as error:
        raise UserError(_first(error)) from None
    check_backbone(Settings(model=request.model, base_url=request.base_url))
    return request


def _first(error: ValidationError) -> str:
    """`--target: Input should be 'sm_80', ..., not sm_00`."""
    fault = error.errors()[0]
    option = "--" + str(fault["loc"][0]).replace("_", "-")
    return f"{option}: {fault['msg'][0].lower()}{fault['msg'][1:]}, not {fault['input']}"
