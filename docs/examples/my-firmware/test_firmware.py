"""What this firmware promises about its latency, on the virtual board."""

ELF = "build/firmware.elf"


def test_a_message_is_published_in_time(masks):
    masks(ELF, until="2ms").longest("basepri").check(at_most_cycles=250)


def test_the_heap_masks_for_a_moment_only(masks):
    assert masks(ELF, until="2ms").longest("primask").cycles <= 40


def test_nothing_has_become_slower(masks):
    masks(ELF, until="2ms").check_baseline()


def test_the_timer_is_answered_within_20_us(latency):
    assert latency(ELF, irq="TIM2", until="cycles:4000").longest.ns <= 20_000


def test_the_allocator_is_short_on_a_full_heap(bench_run):
    run = bench_run("mem_frag", allocator="my_heap.c", parameters={"depth": 8, "trials": 1})
    assert run.worst("allocate").ns <= 4_000
