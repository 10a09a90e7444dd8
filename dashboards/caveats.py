"""What a reader must know to read a number: each caveat once, for every page and table."""

DEPENDENT = "†"
LEGEND = (
    "± is the error budget of the value: bounds of resolution, clock and skew, added up. In brackets: the "
    "percentile's {confidence} bootstrap interval. † The samples are not independent in time (Ljung–Box "
    "test, p below 0.05), so the interval is too narrow. sd: the standard deviation of the samples, with "
    "n − 1. A dash: a percentile that needs more samples. By the timer: what the counter of the stimulus's "
    "timer told of the same answer. Bound: the longest path through the section's machine code without "
    "interrupts, and how many times the worst undisturbed section that is. Placements: least to greatest "
    "with the code at so many places in the flash; two runs whose ranges meet are not told apart."
)
"""Of what stands beside numbers, in tables."""
NO_BOUND = (
    "The largest value that was seen is the number that counts, but no bound: n samples say nothing below a "
    "share of 1/n."
)
CONTROL = "The control interrupt lies above BASEPRI: a mask there never delays it."
LOCKS = {
    "primask": "With {names} every interrupt is masked while the heap works.",
    "scheduler": "With {names} only the scheduler is suspended. Interrupts are served meanwhile; the task "
    "that they wake waits, so task latency is the figure to read.",
}
"""By the lock: whom it holds off."""
SIMULATED = (
    "The virtual board counts cycles by rules from manuals and published measurements; no board has been "
    "held beside it yet. With the flash accelerator off it promises ±5 % over many operations and ±10 % "
    "on one path of one image; with it on parts of the rules are chosen.",
    "The order of allocators and how a section grows are surer than a single figure. "
    "docs/reference/timing.md has the rules, ./lab twin RUN holds a board's run beside them.",
)
