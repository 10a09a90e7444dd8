"""Figures of interrupts: what a stimulus met, in which depth and at which phase, and how long it
waited.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from html import escape

import polars as pl

from base.metrology.summaries import AT_LEAST
from base.run_folder import tables
from base.run_folder.quantities import LATENCY, TASK, Quantity
from dashboards.caveats import TICKS
from dashboards.figures.chart import (
    WHOLE,
    Chart,
    beside,
    entry,
    in_us,
    line,
    make_chart,
    meta,
    per_series,
    points,
    with_maximum,
)
from dashboards.figures.figure import Figure, Trace, bar, scatter
from dashboards.formatting import grouped, microseconds, short
from dashboards.loaded.runs import LoadedRun
from dashboards.loaded.series import (
    INK,
    MEANT_DOT,
    Series,
    about_control,
    caveats,
    has_control,
    spares_interrupts,
)
from dashboards.waveforms import interrupt_keys, operation_keys
from scenarios.operations import CALLS, KERNEL_CALLS


def interrupt_latency(series: Sequence[Series]) -> Chart | None:
    """A strip for each run, of the interrupts that met a critical section, the worst first.

    None without any.
    """
    title = "Interrupt latency where it met a critical section"
    return _strips("latency", title, {"critical": "met a critical section"}, series)


def other_latency(series: Sequence[Series]) -> Chart | None:
    """A strip for each other class and run; folded. None without answered interrupts."""
    classes = {
        "operation": "in an operation, not critical",
        "none": "outside operations",
        "control": "control interrupt",
    }
    chart = _strips("latency-others", "Interrupt latency where it met none", classes, series)
    return replace(chart, folded=True) if chart else None


_STRIP_PX = 36


def _strips(key: str, title: str, classes: dict[str, str], series: Sequence[Series]) -> Chart | None:
    """Strips with count and maximum, of each class the worst first.

    The class `control` is the control interrupt, whatever it met.
    """
    figure, labels, total = Figure(), [], 0
    for hit, words in classes.items():
        chosen = pl.col("control") if hit == "control" else ~pl.col("control") & (pl.col("hit") == hit)
        waits = [(table, member) for member in series if len(table := member.run.waits.filter(chosen))]
        for table, member in sorted(waits, key=lambda pair: -pair[0]["isr_latency_ns"].max()):  # type: ignore[operator]
            undecided, n = (int(table[name].sum()) for name in ("undecided", "n"))
            total += n
            sign = AT_LEAST if table["open"].any() else ""
            worst = sign + microseconds(float(table["isr_latency_ns"].max()))  # type: ignore[arg-type]
            row = f"{words}: {member.label}"
            doubt = f", {grouped(undecided)} of them undecided" if undecided else ""
            label = f"{row}, max {worst}, n = {grouped(n)}{doubt}"
            distinct = (
                table.group_by("isr_latency_ns", maintain_order=True)
                .agg(pl.col("n").sum(), pl.first("sample", "operation_seq"))
                .sort("isr_latency_ns")
            )
            ticks = table.filter("tick").unique("isr_latency_ns", keep="first", maintain_order=True)
            colour = {"width": 1.5, "color": member.style.tint(0.6)}
            figure.add(
                scatter(
                    x=in_us(distinct["isr_latency_ns"]),
                    y=[row] * len(distinct),
                    mode="markers",
                    marker={"symbol": "line-ns", "size": 11, "line": colour},
                    name=member.label,
                    meta=meta(member, ns="x", rows=1),
                    customdata=pl.DataFrame({"key": interrupt_keys(distinct), "n": distinct["n"]}),
                    hovertemplate=f"{WHOLE}, seen %{{customdata[1]}} times<br>%{{customdata[0]}}",
                ),
                # A ring around each latency of an answer that the kernel's tick may have delayed.
                scatter(
                    x=in_us(ticks["isr_latency_ns"]),
                    y=[row] * len(ticks),
                    mode="markers",
                    marker={
                        "symbol": "circle-open",
                        "size": 9,
                        "color": INK,
                        "line": {"width": 1.2, "color": INK},
                    },
                    name=f"{member.label}, tick",
                    meta=meta(member, ns="x"),
                    customdata=interrupt_keys(ticks),
                    hovertemplate=f"{WHOLE}, a tick's handler may have run meanwhile<br>%{{customdata}}",
                ),
            )
            # Above its strip, the words take no width from a narrow screen. By the name the picker
            # hides them with the run.
            labels.append(
                {
                    "x": 0,
                    "xref": "paper",
                    "xanchor": "left",
                    "y": row,
                    "yshift": 14,
                    "text": label,
                    "font": {"size": 12, "color": INK},
                    "showarrow": False,
                    "name": f"entry-{member.style.entry}",
                }
            )
    if not labels:
        return None
    figure.update_xaxes(title_text="latency, stimulus to handler (µs)", rangemode="tozero")
    figure.update_yaxes(type="category", autorange="reversed", showticklabels=False)
    figure.update_layout(meta={"around_px": 90, "row_px": _STRIP_PX}, annotations=labels)
    explanation = (
        "Each stroke is a latency that occurred. Met a critical section: CRIT was high at some sample "
        "between stimulus and answer, so the interrupt waited for its end. Undecided: an edge of CRIT lies "
        f"so near that it may have met it or not. {about_control(series)} {TICKS} "
    ) + caveats(series)
    merged = sum(int(member.run.waits["merged"].sum()) for member in series)
    counted = f"n = {grouped(total)} answered stimuli"
    counted += f", {grouped(merged)} merged into the wait of an earlier one" if merged else ""
    chart = make_chart(key, title, series, counted, explanation, figure, 90 + _STRIP_PX * len(labels))
    figure.update_layout(showlegend=False, margin={"l": 18, "t": 30})
    figure.update_yaxes(ticks="", showgrid=False)
    return chart


_DRAWN = ("control", "sample", "operation_seq", LATENCY.column, TASK.column)


def at_depth(run: LoadedRun) -> pl.DataFrame:
    """The answered interrupts of a run that fell into an operation with a depth, and that `depth`.

    Columns: what is drawn of them.
    """
    if run.depths.is_empty():
        return pl.DataFrame(schema={**{name: tables.INTERRUPTS[name] for name in _DRAWN}, "depth": pl.UInt32})
    answered = run.once("interrupts", *_DRAWN).select(_DRAWN).drop_nulls(LATENCY.column)
    return answered.join(run.depths, on="operation_seq", how="inner", maintain_order="left")


def latency_by_depth(series: Sequence[Series], met: Sequence[pl.DataFrame]) -> Chart | None:
    """The worst STIM→ISR and CTRL→CISR of each band of depths; `met` is `at_depth` of each run.

    None without depths.
    """
    singles = [table.filter(~pl.col("control")) for table in met]
    if (drawn := _by_depth(series, singles, LATENCY)) is None:
        return None
    figure, width = drawn
    for member, table in zip(series, met, strict=True):
        if len(control := table.filter("control")):
            # Thin and with open markers; one switch for all runs.
            look = _bands(member, control, width, LATENCY, shared=True) | {
                "marker": {**points(member, 8, None), "symbol": f"{member.style.symbol}-open"},
                "line": line(member, 1, MEANT_DOT),
                "name": "control interrupt",
                "legendgroup": "control",
            }
            figure.add(look)
    figure.update_yaxes(title_text="latency (µs)", rangemode="tozero")
    counts = [len(table) for table in singles]
    counted = per_series(series, counts, "interrupts during operations with a depth")
    explanation = (
        "Points are single interrupts that fell into an operation of that depth; the line is the worst of "
        "each band. A dip means that no stimulus came early in a search, not that the search was shorter. "
    )
    if control_words := about_control(series):
        explanation += f"{control_words} It shows that the rise is the allocator's. "
    explanation += caveats(series)
    return make_chart(
        "depth", "Interrupt latency against depth", series, counted, explanation, figure, height=460
    )


def task_latency_by_depth(series: Sequence[Series], met: Sequence[pl.DataFrame]) -> Chart | None:
    """The worst STIM→TASK of each band of depths; `met` is `at_depth` of each run.

    None without depths, or if every lock masks interrupts.
    """
    if not any(spares_interrupts(member) for member in series):
        return None
    singles = [table.filter(~pl.col("control")).drop_nulls(TASK.column) for table in met]
    if (drawn := _by_depth(series, singles, TASK)) is None:
        return None
    figure, _ = drawn
    figure.update_yaxes(title_text="latency, stimulus to task (µs)", rangemode="tozero")
    counted = per_series(
        series, [len(table) for table in singles], "tasks woken during operations with a depth"
    )
    explanation = (
        "The time from the stimulus to the first instruction of the task that its interrupt wakes, with the "
        "answer and the switch of tasks in it. It grows with a critical section, whatever the lock. "
    ) + caveats(series)
    return make_chart("task", "Task latency against depth", series, counted, explanation, figure, height=460)


BANDS = 16


def _by_depth(
    series: Sequence[Series], singles: Sequence[pl.DataFrame], quantity: Quantity
) -> tuple[Figure, int] | None:
    """Each series' interrupts (`at_depth`) as points, and a line through the worst of each band.

    Returns the figure and the number of depths in a band: the least that makes at most BANDS of
    them. None without depths.
    """
    deepest = [int(table["depth"].max()) for table in singles if len(table)]  # type: ignore[arg-type]
    if not deepest:
        return None
    width = max(1, -(-max(deepest) // BANDS))
    figure = Figure()
    for member, table in zip(series, singles, strict=True):
        longest, sign = table[quantity.column].max(), member.run.summary(quantity).at_least
        figure.add(
            scatter(
                x=table["depth"].to_numpy(),
                y=in_us(table[quantity.column]),
                mode="markers",
                marker=points(member, size=4, opacity=0.35),
                meta=meta(member, ns="y"),
                customdata=interrupt_keys(table),
                hovertemplate=f"depth %{{x}}: {WHOLE}<br>operation %{{customdata}}",
                **beside(member, "single interrupts"),
            ),
            _bands(member, table, width, quantity)
            | {
                "name": with_maximum(member, longest, "ns", sign),
                "legendgroup": member.run.id,
                "marker": points(member, 8, None),
                "line": line(member),
            },
        )
    figure.update_xaxes(title_text=f"depth (bands of {width})", rangemode="tozero")
    return figure, width


def _bands(series: Series, table: pl.DataFrame, width: int, quantity: Quantity, **more: object) -> Trace:
    """A line through the worst of each band: band b is depths b·width+1 … (b+1)·width."""
    worst = (
        table.with_columns(band=(pl.col("depth").cast(pl.Int64) - 1).clip(0) // width)
        .with_columns(n=pl.len().over("band"))
        .sort("band", quantity.column, descending=[False, True], maintain_order=True)
        .unique("band", keep="first", maintain_order=True)
    )
    ranges = [f"{band * width + 1}–{(band + 1) * width}" for band in worst["band"]]
    keys = interrupt_keys(worst)
    return scatter(
        x=(worst["band"].to_numpy() * width + (width + 1) / 2),
        y=in_us(worst[quantity.column]),
        mode="lines+markers",
        meta=meta(series, **more, ns="y"),
        customdata=pl.DataFrame({"key": keys, "range": ranges, "n": worst["n"]}),
        hovertemplate=f"depth %{{customdata[1]}}: worst {WHOLE} of n = %{{customdata[2]}}<br>"
        "operation %{customdata[0]}",
    )


LINES_APART = 0.02
LINES_MOST = 8
"""More lines would hide the points: a sweep over a ramp has a depth for every few stimuli."""


def latency_by_phase(series: Sequence[Series]) -> Chart | None:
    """Every swept stimulus, and for each curve a line of critical section plus entry.

    None without a sweep.
    """
    swept = [(member, table) for member in series if len(table := by_phase(member))]
    if not swept:
        return None
    figure = Figure()
    for member, table in swept:
        own, longest = {"color": member.style.colour}, member.run.summary(LATENCY)
        measured = member.run.operations.filter("measured")
        met = member.run.answered_control.join(
            measured.select(pl.col("seq").alias("operation_seq"), "start_sample"),
            on="operation_seq",
            maintain_order="left",
        ).with_columns(phase_ns=_phase_ns(member))
        ticked = table["tick"].fill_null(False)
        symbols = ["x" if cross else member.style.symbol for cross in ticked]
        labels = table["label"].fill_null("no label")
        figure.add(
            # The control interrupts that fell into a measured operation; one switch for all runs.
            scatter(
                x=in_us(met["phase_ns"]),
                y=in_us(met["isr_latency_ns"].round(1)),
                mode="markers",
                marker={**own, "size": 3, "symbol": "circle-open", "opacity": 0.5},
                name="control interrupt",
                legendgroup="control",
                meta=meta(member, shared=True, ns="y"),
                customdata=operation_keys(met["operation_seq"]),
                hovertemplate=f"control: %{{x:,.2f}} µs into the operation, latency {WHOLE}<br>"
                "operation %{customdata}",
            ),
            scatter(
                x=in_us(table["phase_ns"]),
                y=in_us(table["isr_latency_ns"].round(1)),
                mode="markers",
                marker={**points(member, size=4, opacity=0.6), "symbol": symbols},
                name=with_maximum(member, table["isr_latency_ns"].max(), "ns", longest.at_least),
                legendgroup=member.run.id,
                meta=meta(member, ns="y"),
                customdata=pl.DataFrame({"key": operation_keys(table["seq"]), "label": labels}),
                hovertemplate=f"%{{customdata[1]}}: %{{x:,.2f}} µs into the operation, latency {WHOLE}<br>"
                "operation %{customdata[0]}",
            ),
        )
        bounds = member.run.manifest.sweep_bounds
        apart = LINES_APART * max((bound for _, bound in bounds), default=0)
        # Bounds that nearly coincide share a line, `first to last`.
        lines: list[tuple[str, float]] = []
        for label, bound in bounds if len(bounds) <= LINES_MOST else ():
            if lines and abs(bound - lines[-1][1]) < apart:
                lines[-1] = (f"{lines[-1][0].partition(' to ')[0]} to {label}", lines[-1][1])
            else:
                lines.append((label, bound))
        # From the operation's start to where the latency has fallen to its least. The lines of one
        # run have room for their words; those of several tell when pointed at.
        alone = len(swept) == 1
        for label, bound_ns in lines:
            words = escape(f"{label}: critical section + entry", quote=False)
            figure.add(
                scatter(
                    x=in_us([0, bound_ns]),
                    y=in_us([bound_ns, bound_ns]),
                    mode="lines+text" if alone else "lines",
                    text=["", words] if alone else None,
                    textposition="middle right",
                    textfont={"size": 11, **own},
                    line=line(member, 1, MEANT_DOT),
                    meta=entry(member, ns="y"),
                    hovertemplate=f"{words}: {WHOLE}",
                    cliponaxis=False,
                    name=f"{member.label}, {escape(label, quote=False)}",
                    legendgroup=member.run.id,
                    showlegend=False,
                )
            )
    latest = max(float(table["phase_ns"][-1]) / 1000 for _, table in swept)
    # A stimulus further left is answered before the operation begins.
    window = {"clipmin": -0.02 * latest}
    title = "stimulus after the beginning of the operation (µs)"
    figure.update_xaxes(title_text=title, autorange=True, autorangeoptions=window)
    figure.update_yaxes(title_text="latency (µs)", rangemode="tozero")
    shown = [member for member, _ in swept]
    control = " or the control interrupt" if any(map(has_control, shown)) else ""
    counted = per_series(shown, [len(table) for _, table in swept], "swept stimuli")
    explanation = (
        "Each operation meets one stimulus, a little later each time. Before the mask is up, the interrupt "
        "is answered at once. Once it is up, the latency jumps to the whole critical section; from there it "
        "falls by one cycle for each cycle that the stimulus comes later. A dotted line is the sum of two "
        "other measurements: the width of the critical section, and what an interrupt waits for beside it, "
        "found with an empty section swept the same way. A curve that just touches its line shows that "
        f"nothing else masks. Points above it met a tick (crosses){control}, which makes the section itself "
        "longer. "
    ) + caveats(shown)
    return make_chart("phase", "Interrupt latency against phase", shown, counted, explanation, figure, 480)


def by_phase(series: Series) -> pl.DataFrame:
    """A row for each answered stimulus of a sweep, ordered by phase.

    Beside its own columns it has the operation's `seq` and `label`, and `phase_ns`: how long after
    the rise of OP it came. A whole sweep has as many stimuli as measured operations, in the same
    order; where the numbers differ, or the run is no sweep, there are no rows.
    """
    operations, stimuli = series.run.operations, series.run.interrupts
    if series.run.manifest.swept:
        operations = operations.filter("measured").sort("seq")
        stimuli = stimuli.filter(~pl.col("control")).sort("sample")
    if not series.run.manifest.swept or operations.height != stimuli.height:
        operations, stimuli = operations.clear(), stimuli.clear()
    both = pl.concat([stimuli, operations.select("seq", "label", "start_sample")], how="horizontal")
    phased = both.with_columns(phase_ns=_phase_ns(series))
    return phased.drop_nulls(["phase_ns", "isr_latency_ns"]).sort("phase_ns")


def _phase_ns(series: Series) -> pl.Expr:
    return ((pl.col("sample") - pl.col("start_sample")) * series.run.manifest.resolution_ns).round(1)


_KERNEL_CALLS = [CALLS.index(name) for name in KERNEL_CALLS]
_BAR_PX = 26


def masking_by_call(series: Sequence[Series]) -> Chart | None:
    """A bar per call and run. None without a sweep of the kernel's calls."""
    figure, shown, counts, rows = Figure(), [], [], 0
    for member in series:
        if (worst := worst_by_call(member)).is_empty():
            continue
        figure.add(
            bar(
                x=in_us(worst["isr_latency_ns"].round(1)),
                y=worst["label"].fill_null("no label").to_list(),
                orientation="h",
                name=member.label,
                marker={"color": member.style.colour},
                text=[short(value, "ns") for value in worst["isr_latency_ns"]],
                textposition="outside",
                cliponaxis=False,
                meta=meta(member, ns="x", rows=len(worst)),
                customdata=operation_keys(worst["seq"]),
                hovertemplate=f"%{{y}}: worst {WHOLE}<br>operation %{{customdata}}",
            )
        )
        shown.append(member)
        counts.append(int(worst["n"].sum()))
        rows += len(worst)
    if not shown:
        return None
    figure.update_xaxes(title_text="worst latency, stimulus to handler (µs)", rangemode="tozero")
    figure.update_yaxes(autorange="reversed", showgrid=False)
    figure.update_layout(barmode="group", meta={"around_px": 110, "row_px": _BAR_PX})
    explanation = (
        "Stimuli met each call at phases all through it; a bar is the worst answer. The calls allocate and "
        "free are the heap's. The others are FreeRTOS's own, whose critical sections mask the same "
        "interrupts. heap_stats is both: the kernel calls the heap, which walks past every block under its "
        "lock. "
    ) + caveats(shown)
    title, counted = "Who masks for how long", per_series(shown, counts, "swept stimuli")
    return make_chart("calls", title, shown, counted, explanation, figure, 110 + _BAR_PX * rows)


def worst_by_call(series: Series) -> pl.DataFrame:
    """For each label, in order of appearance, the stimulus that waited longest, and `n`, of how
    many.

    No rows without a sweep of calls.
    """
    table, calls = by_phase(series), series.run.operations.filter(pl.col("kind") == "K")
    if not calls["size"].is_in(_KERNEL_CALLS).any():
        table = table.clear()
    order = table.group_by("label").agg(pl.col("seq").min().alias("first"), n=pl.len()).sort("first")
    worst = table.sort("isr_latency_ns", descending=True, maintain_order=True).unique("label", keep="first")
    return order.join(worst, on="label", nulls_equal=True, maintain_order="left")
