"""Allocators that break a rule, one each: which rule is found, and by which operations."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from analysis import contract
from analysis.contract import shrink
from base.paths import ROOT
from firmware.build import catalogue, host_contract, outside
from firmware.build.tests.outside import forgotten  # noqa: F401 (it works by being here)

EXAMPLE = ROOT / "docs" / "examples" / "my_heap.c"
needs_tools = pytest.mark.skipif(
    shutil.which("arm-none-eabi-gcc") is None or shutil.which("gcc") is None, reason="needs both compilers"
)

ON_THE_HOST = [
    name for name, row in catalogue.own().items() if not row.target_only and row.missing_checkout() is None
]
FREED = "    freed->next = behind;\n"


def of_example(
    folder: Path, old: str, new: str, within_s: int = 10, hang_within_s: int = 2
) -> contract.Contract:
    source = EXAMPLE.read_text()
    assert old in source
    (folder / "my_heap.c").write_text(source.replace(old, new, 1))
    shutil.copy(EXAMPLE.with_suffix(".toml"), folder)
    (name,) = outside.admit([str(folder / "my_heap.c")])
    return contract.hold(name, within_s=within_s, hang_within_s=hang_within_s)


@needs_tools
def test_the_example_holds_and_says_what_it_does_not_state() -> None:
    (name,) = outside.admit([str(EXAMPLE)])
    result = contract.hold(name)
    assert result.holds
    assert result.lists == contract.LISTS + 5
    assert {suite.name for suite in result.suites} >= {"requests", "contents", "recovery", "markers"}
    assert set(result.not_stated) | {"frees", "merges", "reuses_holes", "tells_usable"} == set(
        catalogue.PROMISES
    )
    said = contract.as_text(result)
    assert "state what is true of yours as promises = […] in my_heap.toml beside it:\n  checks_frees " in said
    assert said.endswith("\nthe contract holds")


@pytest.mark.long
@needs_tools
@pytest.mark.parametrize(
    ("old", "new", "rule", "operations"),
    [
        ("*link = rest;", "*link = found;", "overlap", 2),
        ("        before = behind;\n", "        before = first;\n", "lost", 10),
        (FREED, FREED + "    if (freed->size == 48) while (1) {}\n", "never_returns", 2),
        ("->size - sizeof(cell);\n}", "->size - 2 * sizeof(cell);\n}", "small", 1),
    ],
)
def test_each_rule_is_found_with_a_short_list(
    tmp_path: Path, old: str, new: str, rule: str, operations: int
) -> None:
    limits = {"within_s": 3, "hang_within_s": 1} if rule == "never_returns" else {}
    result = of_example(tmp_path, old, new, **limits)
    first = result.broken[0]
    assert first.judged.rule == rule, contract.as_text(result)
    assert len(first.operations) <= operations, contract.as_text(result)
    assert not result.holds
    assert result.as_json()["broken"][0]["rule"] == rule
    assert contract.broken_rule(first) in contract.as_text(result)


@needs_tools
def test_an_allocator_that_aligns_to_4_is_held_to_all_other_rules(tmp_path: Path) -> None:
    rounded = ("+ 7u) & ~(size_t)7u;\n    cell **", "+ 3u) & ~(size_t)3u;\n    cell **")
    result = of_example(tmp_path, *rounded)
    assert [broken.judged.rule for broken in result.broken] == ["misaligned"]
    assert result.suites and all(suite.passed for suite in result.suites)
    shown = contract.as_text(result).partition("\n")[2].partition("\nnot stated")[0]
    assert f"```\n{shown}\n```\n" in (ROOT / "docs" / "tutorial" / "my-allocator.md").read_text()


@needs_tools
def test_a_requirement_of_the_users_own_code_is_named_by_its_line(tmp_path: Path) -> None:
    required = "    HEAP_REQUIRE(found->size < 48);\n    return found + 1;\n"
    result = of_example(tmp_path, "    return found + 1;\n", required)
    line = (tmp_path / "my_heap.c").read_text().split("HEAP_REQUIRE")[0].count("\n") + 1
    assert len(result.broken[0].operations) == 1
    assert result.broken[0].judged.reason == f"my_heap.c:{line}: required: found->size < 48"


ASKED_TOO_MUCH = "    if (size > SIZE_MAX - sizeof(cell) - 7u) {"


@needs_tools
def test_a_request_that_overflows_is_found(tmp_path: Path) -> None:
    """The very first that does, header and rounding together."""
    result = of_example(tmp_path, ASKED_TOO_MUCH, "    if (size > SIZE_MAX - sizeof(cell) - 6u) {")
    assert [broken.judged.rule for broken in result.broken] == ["too_large"]
    assert result.broken[0].judged.numbers[1] == 4_294_967_281
    assert not result.holds and all(suite.passed for suite in result.suites)


@pytest.mark.long
@needs_tools
@pytest.mark.parametrize("name", ON_THE_HOST)
def test_no_allocator_serves_more_than_any_region_has(name: str) -> None:
    """But those of which the catalogue says so, and they do."""
    row = catalogue.allocators()[name]
    result = host_contract.judge(host_contract.build(name), contract.too_large(row.promises), 10)
    assert result.rule == ("holds" if row.gives_too_large is None else "too_large"), result


@pytest.mark.long
@needs_tools
def test_a_suite_that_fails_is_told_with_its_demand(tmp_path: Path) -> None:
    """An allocator that does not say why it refuses; no list of operations asks for that."""
    source = (ROOT / "firmware" / "heap" / "plain.h").read_text() + EXAMPLE.read_text()
    source = (
        source.replace('#include "plain.h"\n', "")
        .replace(
            "alignment > 8u ? request_refused(HEAP_BAD_ALIGNMENT)",
            "alignment > 8u ? request_refused(HEAP_CORRUPT)",
        )
        .replace("REFUSE_UNLESS_OK(", "REFUSE_AS_FULL(")
    )
    macros = (
        "#define PLAIN_TELLS_USABLE\n"
        "#define REFUSE_AS_FULL(judged) if (judged) { return request_refused(HEAP_OUT_OF_MEMORY); }\n"
    )
    (tmp_path / "bare.c").write_text(macros + source)
    (name,) = outside.admit([str(tmp_path / "bare.c")])
    said = contract.as_text(contract.hold(name))
    assert "  requests       broken: heap_last_operation().status is 1, not 2 (test_requests.c:" in said
    assert "it demands that a request that nobody can serve is refused with its reason" in said


def test_a_list_is_made_as_short_as_it_can_be() -> None:
    """It breaks if slot 3 is freed after an allocation of 100 bytes or more into it."""
    operations = [f"a {slot} {40 * slot + 7} 0" for slot in range(9)] + [f"f {slot}" for slot in range(9)]

    def breaks(candidate: object) -> bool:
        lines = list(candidate)  # type: ignore[call-overload]
        sizes = [int(line.split()[2]) for line in lines if line.startswith("a 3 ")]
        return "f 3" in lines and bool(sizes) and sizes[0] >= 100

    assert shrink(operations, breaks, tries=500) == ["a 3 127 0", "f 3"]


@pytest.mark.long
@needs_tools
def test_a_rule_that_only_a_full_heap_breaks_has_a_short_list(tmp_path: Path) -> None:
    """Of more than 30 live blocks one of 2 to 19 bytes gets a place that is no multiple of 8."""
    source = EXAMPLE.read_text()
    wrong = (
        "    return ++live > 30 && size > 1 && size < 20 ? (void *)((char *)(found + 1) + 4) : found + 1;\n"
    )
    for old, new in (
        ("static void *plain_allocate", "static unsigned live;\n\nstatic void *plain_allocate"),
        ("    return found + 1;\n", wrong),
        (FREED, f"    live--;\n{FREED}"),
    ):
        assert old in source
        source = source.replace(old, new, 1)
    (tmp_path / "my_heap.c").write_text(source)
    shutil.copy(EXAMPLE.with_suffix(".toml"), tmp_path)
    (name,) = outside.admit([str(tmp_path / "my_heap.c")])
    broken, *_ = contract.hold(name).broken
    assert broken.judged.rule == "misaligned"
    assert [operation[0] for operation in broken.operations] == ["a"] * 31
