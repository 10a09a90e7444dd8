"""The page of scenarios: the generator that is shown is one."""

from __future__ import annotations

import re
from typing import Any

import pytest

from base.paths import ROOT
from scenarios.parameters import bind
from scenarios.plan import compile_steps
from scenarios.stimulus import NO_STIMULUS

pytestmark = pytest.mark.docs

PAGE = ROOT / "docs" / "reference" / "scenarios.md"


def test_the_example_generator_compiles() -> None:
    (source,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    namespace: dict[str, Any] = {"__name__": __name__}
    exec(source, namespace)
    parameters: dict[str, int | str] = {"steps_up": 3, "rise_bytes": 16}
    generator = bind(namespace["Staircase"], parameters, {})
    table = compile_steps("staircase", parameters, NO_STIMULUS, generator.steps()).operations
    assert table.select("kind", "size", "depth").rows() == [
        ("A", 16, 1),
        ("A", 32, 2),
        ("A", 48, 3),
        ("F", 16, 3),
        ("F", 32, 2),
        ("F", 48, 1),
    ]
