"""What a reader must know to read a number: each caveat once, for every page and table."""

BUDGET = (
    "± is the error budget of the value: bounds of resolution, clock and skew, added up. Overhead is the "
    "part of the value that is the bench's own."
)
INTERVALS = "In brackets: the percentile's {confidence} bootstrap interval."
DEPENDENT = (
    "The samples are not independent in time (Ljung–Box test, p below 0.05), so the interval is too narrow."
)
TOO_FEW = "This percentile needs {needed} samples; there are {n}."
NO_INTERVAL = "A ramp's depths are chosen, not drawn: there is no sampling error."
TIMER = (
    "By the timer: what the counter of the stimulus's timer told of the same answer, read right after its "
    "pin rose."
)
BOUND = (
    "Static bound: the longest path through the section's machine code without interrupts, every "
    "instruction at its worst; and how many times the worst undisturbed section that is."
)
SUBTRACTED = (
    "The run's own baseline is subtracted from every value and statistic: an empty section, an idle answer."
)
NO_BOUND = (
    "The largest value that was seen is the number that counts, but no bound: n samples say nothing below a "
    "share of 1/n."
)
TICKS = "A ring: the handler of the kernel's tick may have run between stimulus and answer."
CONTROL = "The control interrupt lies above BASEPRI: a mask there never delays it."
CONTROL_TOO = ", the control interrupt too"
"""Of a run that had one."""
LOCKS = {
    "primask": f"With {{names}} every interrupt is masked while the heap works{CONTROL_TOO}.",
    "scheduler": "With {names} only the scheduler is suspended. Interrupts are served meanwhile; the task "
    "that they wake waits, so task latency is the figure to read.",
}
"""By the lock: whom it holds off."""
BY_BOTH = (
    "{dwt:,} cycles by DWT and {wire:,} on the wire: the counter is read within the marks, which take "
    "{marks:,} cycles of the pulse, as the calibration pulses tell"
)
APART = "; still {apart:+,} cycles apart"
"""Of a section that wire and DWT tell otherwise than the marks explain."""
SIMULATED = (
    "The virtual board counts cycles by rules from manuals and published measurements; no board has been "
    "held beside it yet. With the flash accelerator off it promises ±5 % over many operations and ±10 % "
    "on one path of one image; with it on parts of the rules are chosen.",
    "The order of allocators and how a section grows are surer than a single figure. "
    "docs/reference/timing.md has the rules, ./lab twin RUN holds a board's run beside them.",
)
NO_CAPTURE = "The folder of {names} has no edges.parquet, so there is no waveform of it."
