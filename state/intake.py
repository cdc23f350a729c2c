"""What a run starts from."""

from egg.state.device import Device
from egg.state.problem import Problem
from egg.state.record import Record
from egg.state.settings import Settings


class Intake(Record):
    """What was asked for, and what intake found."""

    settings: Settings
    device: Device
    problem: Problem
