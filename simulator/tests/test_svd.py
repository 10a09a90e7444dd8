"""The facts that the simulator's register tables are held against are those of the SVD files."""

from __future__ import annotations

from simulator.tests import svd


def test_the_facts_that_are_kept_are_those_of_the_svd_files() -> None:
    lines = svd.KEPT.read_text(encoding="utf-8").splitlines()
    assert lines == list(svd.facts())
    assert "F103 GPIOA CRL 0x00 0x44444444" in lines
    assert "L476 FLASH KEYR 0x08 0x00000000" in lines
