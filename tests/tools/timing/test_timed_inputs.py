"""Contents of timed inputs: never the same twice, and the same again for whoever checks."""

from types import SimpleNamespace
from typing import Any

import pytest
import torch

from egg.tools.tasks.inputs import InputSet, InputSets, inputs_of_call

MASK = torch.tril(torch.ones(8, 8))


def module(**more: Any) -> Any:
    def get_inputs() -> list[Any]:
        return [torch.rand(16, 33), torch.randn(8, 6).t(), MASK.clone(), torch.randint(0, 5, (9,)), 3]

    return SimpleNamespace(get_inputs=get_inputs, **more)


def sets(count: int = 4) -> InputSets:
    return InputSets(module(), 5, InputSet(module(), 5, "cpu"), count, "cpu")


def test_whoever_checks_can_make_a_calls_inputs_again() -> None:
    given = sets()
    for turn in range(1, 14):
        now, again = given.next(), inputs_of_call(module(), 5, 4, turn, "cpu")
        for one, other in zip(now, again, strict=True):
            assert one == other if isinstance(one, int) else torch.equal(one, other)


def test_no_contents_come_twice_and_addresses_rotate() -> None:
    given = sets()
    seen, places = set(), set()
    for _ in range(300):
        inputs = given.next()
        seen.add(inputs[0].numpy().tobytes())
        places.add(inputs[0].data_ptr())
    assert len(seen) == 300 and len(places) == 4


def test_masks_indices_and_numbers_keep_their_meaning() -> None:
    given = sets(1)
    before = [leaf.clone() if isinstance(leaf, torch.Tensor) else leaf for leaf in given.sets[0].inputs]
    inputs = given.next()
    assert torch.equal(inputs[2], before[2]) and torch.equal(inputs[3], before[3]) and inputs[4] == 3
    for now, then in zip(inputs[:2], before[:2], strict=True):
        changed = now != then
        assert 0.02 < float(changed.float().mean()) < 0.6
        ratio = now[changed] / then[changed]
        assert bool(((ratio == 0.5) | (ratio == 0.25)).all())  # the latter where both combs meet


def test_no_row_is_scaled_as_a_whole() -> None:
    given = sets(1)
    for _ in range(100):
        x = given.next()[0]
        base = InputSet(module(), 5, "cpu").inputs[0]
        factors = x / base
        touched = (factors != 1).any(dim=1)
        assert not bool((factors[touched] == 0.5).all(dim=1).any())


def test_where_there_is_nothing_to_scale_everything_is_made_anew() -> None:
    indices = SimpleNamespace(get_inputs=lambda: [torch.randint(0, 1000, (50,))])
    given = InputSets(indices, 5, InputSet(indices, 5, "cpu"), 2, "cpu")  # type: ignore[arg-type]
    place = given.sets[1].inputs[0].data_ptr()
    seen = {tuple(given.next()[0].tolist()) for _ in range(20)}
    assert len(seen) == 20 and given.sets[1].inputs[0].data_ptr() == place
    assert torch.equal(inputs_of_call(indices, 5, 2, 20, "cpu")[0], given.sets[0].inputs[0])  # type: ignore[arg-type]


@pytest.mark.parametrize("shape", [(), (1,), (3, 0)])
def test_the_smallest_inputs(shape: tuple[int, ...]) -> None:
    tiny = SimpleNamespace(get_inputs=lambda: [torch.rand(shape)])
    given = InputSets(tiny, 1, InputSet(tiny, 1, "cpu"), 2, "cpu")  # type: ignore[arg-type]
    for _ in range(4):
        assert given.next()[0].shape == shape
