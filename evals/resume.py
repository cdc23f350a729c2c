"""A results file that is its own checkpoint: a command started again goes on with the parts that are missing."""

import json
import threading
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from egg.evals.provenance import commit, provenance, write_results
from egg.state.device import Device
from egg.state.errors import UserError
from egg.state.settings import Policy
from egg.tools.timing import measure

Json = dict[str, Any]


class Parts:
    """What is done already, by name. Parts of another GPU model, driver or software, or of another version, are not."""

    def __init__(
        self, out: Path, command: str, device: Device, policy: Policy, version: int, names: Collection[str] = ()
    ) -> None:
        """`names`: what parts there may be; those that the command no longer has are dropped. Empty: any.

        Raises:
            UserError: the file holds what a GPU measured, and none is here.
        """
        self.out = out
        self.head = provenance(command, device, policy)
        self.same = {
            "version": [version, measure.VERSION],
            "gpu": [device.name, device.present, device.driver, device.software],
            "policy": policy.value,
        }
        self.found = {name: part for name, part in self._kept().items() if not names or name in names}
        self._lock = threading.Lock()

    def get(self, name: str, produce: Callable[[], Json], same: Any = None) -> Json:
        """The part, found or made now and written at once.

        `same`: what it depends on besides (sources, sizes); a part that was made of something else is made anew.
        """
        kept = self.found.get(name)
        if kept is None or kept.get("of") != same:
            made = produce()
            made |= {"of": same, "commit": commit(), "uuid": self.head["device"]["uuid"]}
            with self._lock:
                self.found[name] = made
                self.write({})
        return self.found[name]

    def write(self, summary: Json) -> None:
        """The file with all parts; `summary` once they are complete."""
        write_results(self.out, {**self.head, **summary, "same": self.same, "parts": self.found})

    def _kept(self) -> dict[str, Json]:
        try:
            before = json.loads(self.out.read_text())
        except (OSError, ValueError):
            return {}
        self._spare(before)
        if not isinstance(before, dict) or before.get("same") != json.loads(json.dumps(self.same)):
            return {}
        parts: dict[str, Json] = before.get("parts", {})
        return parts

    def _spare(self, before: Any) -> None:
        device = before.get("device", {}) if isinstance(before, dict) else {}
        if device.get("present") and not self.head["device"]["present"]:
            raise UserError(
                f"{self.out} holds what {device.get('name')} measured, and no GPU is here: name another file"
            )
