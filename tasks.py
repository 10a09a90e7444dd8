"""The tasks of the bench (`./lab --list`). Each is a few lines: the work lives in the rooms."""

from __future__ import annotations

import json as json_format
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from invoke.context import Context
from invoke.exceptions import Exit
from invoke.tasks import task

from base.processes import signals

if TYPE_CHECKING:
    from cli.options import Options

ROOT = Path(__file__).resolve().parent
RUNS = ROOT / "runs"
DASHBOARD = ROOT / "build" / "dashboard.html"
REPRODUCED = ROOT / "build" / "reproduced"
SITE = ROOT / "build" / "site"
# As base/run_folder/named_quantities.py has it, which takes a while to load.
CHOICE = (
    "allocate (critical section of an allocation), free (critical section of a free), "
    "interrupt (interrupt latency), task (task latency)"
)
DEMO_SCENARIOS = ("mem_stress", "mem_frag")
DEMO_ALLOCATORS = "seglist,tlsf"


@task(
    help={
        "summary": "json: print folders, verdicts and statistics as JSON, and nothing else",
        "full": "print all statistics, also of many runs",
    },
)
def demo(_context: Context, summary: str = "", full: bool = False) -> None:
    """Run mem_stress and mem_frag on seglist and TLSF, and write the dashboard."""
    _conduct(DEMO_SCENARIOS, DEMO_ALLOCATORS, lambda: None, summary, full)


@task(
    positional=["name"],
    iterable=["parameter", "knob"],
    help={
        "name": "a scenario of `./lab list`, or the path of a scenario's TOML",
        "allocator": "one or more allocators, separated by commas, or all",
        "board": "an entry of bench.toml; its default when not given",
        "samplerate": "samples per second, e.g. 24000000 or 24m",
        "stimulus": "none, periodic, sweep, random or burst; or MODE:PERIOD[,CONTROL] in timer ticks",
        "seed": "seed of the scenario's generator",
        "parameter": "NAME=VALUE of the scenario; may be repeated",
        "duration": "seconds to capture, instead of the scenario's own bound",
        "records": "what carries the records: uart, or rtt through the debug probe",
        "capture": "who captures: sigrok, or direct, the virtual board itself: same results, sooner",
        "art": "the flash accelerator: on, off, or on,off for a run with each",
        "locking": "how the heap holds others off: basepri, primask, scheduler, or several with commas",
        "knob": "NAME=VALUE of the allocator's build (firmware/heap/catalogue.toml); may be repeated",
        "trace": "the file of operations that the scenario `recorded` replays (docs/TRACES.md)",
        "scale": "keep one block in so many of the trace; auto: as many as fit the board",
        "heap": "bytes of the heap's region, a multiple of 8; the scenario's own, or 65536, when not given",
        "summary": "json: print folders, verdicts and statistics as JSON, and nothing else",
        "full": "print all statistics, also of many runs",
    },
)
def scenario(
    _context: Context,
    name: str,
    parameter: list[str],
    knob: list[str],
    allocator: str = DEMO_ALLOCATORS,
    board: str = "",
    samplerate: str = "",
    stimulus: str = "",
    seed: str = "",
    duration: str = "",
    art: str = "on",
    records: str = "uart",
    capture: str = "sigrok",
    locking: str = "",
    trace: str = "",
    scale: str = "",
    heap: str = "",
    summary: str = "",
    full: bool = False,
) -> None:
    """Run one scenario, judge it, and write the dashboard of its runs."""

    def chosen() -> Options:
        from cli import options

        return options.parse(
            parameter=parameter,
            knob=knob,
            board=board,
            samplerate=samplerate,
            stimulus=stimulus,
            seed=seed,
            duration=duration,
            art=art,
            records=records,
            capture=capture,
            locking=locking,
            trace=trace,
            scale=scale,
            heap=heap,
        )

    _conduct((name,), allocator, chosen, summary, full)


@task(
    positional=["what"],
    iterable=["what"],
    help={
        "what": "a matrix of settings (docs/CAMPAIGNS.md); or status, results or clean, and a folder",
        "output": "the folder of the campaign; runs/campaigns/MATRIX when not given",
        "scheduler": "a scheduler of Dask that is there, tcp://HOST:PORT; workers here when not given",
        "workers": "how many runs at a time on this machine; one a core when not given",
        "json": "print JSON",
    },
)
def campaign(
    _context: Context,
    what: list[str],
    output: str = "",
    scheduler: str = "",
    workers: str = "",
    json: bool = False,
) -> None:
    """Run a matrix of settings on all cores or a cluster; begun again, it goes on."""
    with one_sentence(exit_status=2):
        from cli import campaigns as room

        done = room.run(what, output=output, scheduler=scheduler, workers=workers, json=json)
    print(done.text)
    if not done.complete:
        raise Exit(code=1)


@task(
    positional=["run"],
    iterable=["run"],
    help={
        "run": "run folders; the latest of each scenario, allocator and options when none is given",
        "output": "the HTML file to write",
        "all": "without run folders: every one in runs/, not only the latest of each kind",
        "subtract-baseline": "take each quantity's own baseline off all its values and statistics",
        "without-ticks": "set aside answers that the kernel's tick may have delayed, and say how many",
    },
)
def dashboard(
    _context: Context,
    run: list[str],
    output: str = str(DASHBOARD),
    all: bool = False,
    subtract_baseline: bool = False,
    without_ticks: bool = False,
) -> None:
    """Write the dashboard of the given runs: `./lab dashboard [RUN...]`."""
    from cli import dashboard as room

    with one_sentence():
        for line in room.run(
            run,
            Path(output),
            every=all,
            subtract_baseline=subtract_baseline,
            without_ticks=without_ticks,
            runs_folder=RUNS,
        ):
            print(line)


@task(
    help={
        "port": "of this machine to answer at; 0 for any that is free",
        "runs": "the folder that holds the run folders, or campaigns with them",
    },
)
def app(_context: Context, port: str = "8050", runs: str = str(RUNS)) -> None:
    """Show all runs in a browser, as they come: matrix, figures, every sample. Ctrl-C ends it."""
    with one_sentence(exit_status=2):
        from cli import app as room

        room.run(Path(runs), port, ROOT / "build" / "index")


@task(
    positional=["run"],
    help={"run": "a run folder", "quantity": f"{CHOICE}; or a statistic of run.json, such as served_probes"},
)
def extremes(_context: Context, run: str, quantity: str = "interrupt") -> None:
    """Estimate the values beyond the maximum, or say why that cannot be done."""
    from cli import known

    with one_sentence():
        known.check_runs([run])
        from dashboards import extremes as room

        print(room.as_text(Path(run), quantity))


@task(
    positional=["run"],
    help={"run": "a run folder", "output": "the folder to write to; build/histograms/RUN when not given"},
)
def histograms(_context: Context, run: str, output: str = "") -> None:
    """Write a run's distributions for HdrHistogram's tools, one .hgrm file for each statistic."""
    from cli import known

    with one_sentence():
        known.check_runs([run])
        from dashboards import extremes as room

        folder = Path(output) if output else ROOT / "build" / "histograms" / Path(run).resolve().name
        for path in room.write(Path(run), folder):
            print(path)


@task(positional=["run"], help={"run": "a run folder"})
def redecode(_context: Context, run: str) -> None:
    """Decode, join and judge a stored run again, without the board."""
    from cli import known

    with one_sentence():
        known.check_runs([run])
        from capture import redecode as room

        result = room.redecode(Path(run))
    print(f"{result.verdict}: {' '.join(result.reasons)}" if result.reasons else result.verdict)
    if result.verdict != "complete":
        raise Exit(code=1)


@task(
    positional=["file"],
    iterable=["parameter"],
    help={
        "file": "a capture: .sr, VCD, CSV of sigrok or Saleae, or the folder of a binary export of Logic 2",
        "channels": "which is which: CRIT=D0,OP=D1,…; those of the same names when not given",
        "samplerate": "of the analyzer, where the file does not state it: 24000000 or 24m",
        "run": "the run folder of the run that it was taken of",
        "uart": "the records of that run, where they are not those in the run folder",
        "scenario": "without a run folder: what ran, of `./lab list` or the path of a scenario's TOML",
        "allocator": "without a run folder: on which allocator",
        "stimulus": "of the scenario, as in `./lab scenario`",
        "seed": "of the scenario's generator",
        "parameter": "NAME=VALUE of the scenario; may be repeated",
        "records": "what carried the records: uart or rtt",
        "json": "print JSON, of a capture without a run",
    },
)
def decode(
    _context: Context,
    file: str,
    parameter: list[str],
    channels: str = "",
    samplerate: str = "",
    run: str = "",
    uart: str = "",
    scenario: str = "",
    allocator: str = "",
    stimulus: str = "",
    seed: str = "",
    records: str = "uart",
    json: bool = False,
) -> None:
    """Decode and judge a capture of another tool: `./lab decode FILE --channels CRIT=D0,…`."""
    from cli import known, options

    with one_sentence():
        known.check(scenario=scenario, allocators_=known.words(allocator) if allocator else ())
        chosen = options.parse(
            parameter=parameter, samplerate=samplerate, stimulus=stimulus, seed=seed, records=records
        )
        from capture.store import RunResult
        from cli import decode as room

        found = room.run(
            file,
            channels=channels,
            uart=uart,
            run=run,
            scenario=scenario,
            allocator=allocator,
            options=chosen,
            runs_folder=RUNS,
        )
    if not isinstance(found, RunResult):
        print(json_format.dumps(found.as_json(), indent=2) if json else room.as_text(found))
        raise Exit(code=1)
    print(f"{found.verdict}: {' '.join(found.reasons)}" if found.reasons else found.verdict)
    print(found.folder)
    if found.verdict != "complete":
        raise Exit(code=1)


@task(
    positional=["run"],
    help={
        "run": "a run folder",
        "quantity": CHOICE,
        "perfetto": "a timeline of the run to write, which ui.perfetto.dev opens",
        "json": "print what explain/<quantity>.json has",
    },
)
def explain(
    _context: Context, run: str, quantity: str = "allocate", perfetto: str = "", json: bool = False
) -> None:
    """Explain the worst sample of a run, and keep waveform, heap, call stack, instructions."""
    from cli import known

    with one_sentence():
        known.check_runs([run])
        from analysis.explain import explanation, text

        found = explanation.explain(Path(run), quantity)
        if perfetto:
            from analysis.program.masks import timeline

            timeline.run_timeline(Path(run), found).write(Path(perfetto))
    print(json_format.dumps(found.document(), indent=2) if json else text.as_text(found))
    if perfetto and not json:
        print(f"file: {perfetto}")


@task(
    positional=["elf"],
    iterable=["section"],
    help={
        "elf": "your program, the ELF file that the linker wrote",
        "irq": "the interrupt to pend: TIM3, USART2, EXTI15_10, a number of RM0368's table 38, SysTick",
        "mode": "sweep (pend at every cycle, or every n-th) or random",
        "section": "'a..b', or 'f..' from entry to exit; each a function, f+0x12, 0xADDRESS or file.c:12",
        "until": "the end: a time since reset such as 100ms, or a cycle; 100ms when not given",
        "from_": "the first cycle to pend at; where the program enables the interrupt when not given",
        "around": "pend during the longest call of this function, and 64 cycles before and after it",
        "every": "pend at each n-th cycle; when not given, so that there are at most 100,000",
        "pends": "of --mode random: how many; 2,000 when not given",
        "seed": "of --mode random",
        "enable": "let the board enable the interrupt when it pends it, at this priority, 0 to 15",
        "explain": "list what the longest wait or section spent its cycles on",
        "chip": "which chip: stm32f401re when not given",
        "hse": "the crystal in Hz, or none",
        "gaps": "go on past registers that are not modelled",
        "json": "print JSON",
    },
)
def latency(
    _context: Context,
    elf: str,
    section: list[str],
    irq: str = "",
    mode: str = "sweep",
    until: str = "",
    from_: str = "",
    around: str = "",
    every: str = "",
    pends: str = "",
    seed: str = "",
    enable: str = "",
    explain: bool = False,
    chip: str = "",
    hse: str = "",
    gaps: bool = False,
    json: bool = False,
) -> None:
    """Pend an interrupt of your program at every cycle, and say how long it waits, and why."""
    from analysis.program.latency import text
    from cli import latency as room
    from simulator.program import user_program

    with one_sentence():
        program = user_program(elf, chip=chip, hse=hse, gaps=gaps)
        asked = None
        if irq:
            asked = room.question(
                irq=irq,
                mode=mode,
                until=until,
                start=from_,
                every=every,
                pends=pends,
                seed=seed,
                enable=enable,
            )
        found = room.run(program, asked, section, until=until, around=around, explain=explain)
    print(json_format.dumps(found.document, indent=2) if json else text.as_text(found.document))
    if not found.complete:
        raise Exit(code=1)


@task(
    positional=["run"],
    help={
        "run": "a run folder, of any board",
        "output": "the HTML file to write: residuals as a histogram and over the operations",
        "json": "print JSON",
    },
)
def twin(_context: Context, run: str, output: str = "", json: bool = False) -> None:
    """Replay a run on the virtual board, show where both differ, and what explains it."""
    from cli import known

    with one_sentence():
        known.check_runs([run])
        from analysis.twin import text
        from cli import twin as room

        found = room.run(Path(run), output)
    print(json_format.dumps(found.as_json(), indent=2) if json else text.as_text(found))
    if output and not json:
        print(f"page: {output}")
    if not found.explained:
        raise Exit(code=1)


@task(
    positional=["a", "b"],
    help={
        "a": "a run folder, or a folder of runs: what B is held against",
        "b": "a run folder, or a folder of runs",
        "output": "an HTML file to write",
        "json": "print JSON",
    },
)
def compare(_context: Context, a: str, b: str, output: str = "", json: bool = False) -> None:
    """Compare runs: what changed in settings and figures, by how much, and where."""
    from analysis.compare import text
    from analysis.compare.document import as_json
    from cli import compare as room

    with one_sentence(exit_status=2):
        found = room.run(Path(a), Path(b), output)
    print(json_format.dumps(as_json(found), indent=2) if json else text.as_text(found))
    if output and not json:
        print(f"page: {output}")
    if status := room.EXIT_STATUS[found.status]:
        raise Exit(code=status)


@task(
    positional=["elf"],
    help={
        "elf": "a program for the virtual Nucleo, as the linker wrote it",
        "until": "how long to run it from reset: 100ms, 2s or cycles:8400000",
        "explain": "the instructions of the longest interval of each kind, too",
        "output": "an HTML file to write: places, curves, timeline, priorities",
        "folded": "a file for flame graph tools to write: a line for each call stack, with its cycles",
        "perfetto": "a timeline to write, which ui.perfetto.dev opens",
        "chip": "the chip that it is for, such as stm32f411re; stm32f401re when not given",
        "hse": "the crystal's frequency in Hz, or none; the board's when not given",
        "gaps": "go on past registers that are not modelled: the first thing to try if the run stops at one",
        "semihosting": "answer the program's calls to its host; what it prints is not shown",
        "json": "print JSON",
    },
)
def masks(
    _context: Context,
    elf: str,
    until: str = "1s",
    explain: bool = False,
    output: str = "",
    folded: str = "",
    perfetto: str = "",
    chip: str = "",
    hse: str = "",
    gaps: bool = False,
    semihosting: bool = False,
    json: bool = False,
) -> None:
    """Show how long your own program holds interrupts off, and who does: `./lab masks my.elf`."""
    from analysis.program.masks import document, text
    from cli import masks as room

    with one_sentence():
        found = room.run(
            elf,
            until=until,
            explain=explain,
            chip=chip,
            hse=hse,
            gaps=gaps,
            semihosting=semihosting,
            output=output,
            folded_file=folded,
            perfetto=perfetto,
        )
    print(json_format.dumps(document.as_json(found), indent=2) if json else text.as_text(found))
    for name in (output, folded, perfetto):
        if name and not json:
            print(f"file: {name}")
    if found.run.ended:
        raise Exit(code=1)


@task(
    positional=["run"],
    help={
        "run": "a run folder",
        "worst": "begin at the worst sample, between two cursors, and say where it is",
        "quantity": f"of which the worst is meant: {CHOICE}",
    },
)
def pulseview(_context: Context, run: str, worst: bool = False, quantity: str = "allocate") -> None:
    """Open PulseView on a run, with the decoders on: `./lab pulseview RUN --worst`."""
    from cli import known

    with one_sentence():
        known.check_runs([run])
        from cli import pulseview as room

        status = room.run(Path(run), quantity if worst else None)
    if status:
        raise Exit(code=status)


@task(
    positional=["run"],
    iterable=["run"],
    help={
        "run": "complete run folders; without any, small runs are made on the virtual board",
        "n": "how many faults to plant",
        "seed": "what they are drawn from",
        "replay": "KIND:NUMBER of a fault of this seed and these runs: plant only it, and tell all of it",
        "jobs": "how many processes share the work",
        "json": "print JSON",
    },
)
def faults(
    _context: Context,
    run: list[str],
    n: int = 1000,
    seed: int = 1,
    replay: str = "",
    jobs: int = 1,
    json: bool = False,
) -> None:
    """Plant single faults in healthy runs, and count what the verdict lets pass."""
    from cli import known, progress

    folders = [Path(folder) for folder in run]
    with one_sentence(), progress.shown() as tell:
        known.check_runs(run)
        from quality.faults import text
        from quality.faults import text as faults_text

        found = (
            faults_text.replay(folders, replay, seed, tell)
            if replay
            else faults_text.run(folders, n, seed, jobs, tell)
        )
    print(json_format.dumps(found.as_json(), indent=2) if json else text.as_text(found))
    if not found.sound:
        raise Exit(code=1)


@task(
    positional=["name"],
    iterable=["name", "parameter", "knob", "runs"],
    help={
        "name": "a scenario of `./lab list`, or the path of a scenario's TOML",
        "trace": "a file of operations, instead of a scenario or for `recorded` (docs/TRACES.md)",
        "scale": "keep one block in so many of the trace; auto: as many as fit the board",
        "allocator": "one or more allocators, separated by commas, or all",
        "heap": "bytes of the region, a multiple of 8 to 8 MiB; the scenario's own, or 65536, when not given",
        "seeds": "how many seeds to replay: the scenario's own, and those after it",
        "parameter": "NAME=VALUE of the scenario; may be repeated",
        "knob": "NAME=VALUE of the allocator's build (firmware/heap/catalogue.toml); may be repeated",
        "jobs": "how many processes share the work; all cores when not given",
        "exhaustive": "search for the smallest heap however long that takes",
        "search": "no-search leaves out the search for the smallest heap, which takes longest",
        "runs": "run folders of the same trace, for the page: their worst critical sections",
        "output": "the HTML file to write: heap beside worst critical section",
        "json": "print JSON",
    },
)
def fragmentation(
    _context: Context,
    name: list[str],
    parameter: list[str],
    knob: list[str],
    runs: list[str],
    trace: str = "",
    scale: str = "",
    allocator: str = "all",
    heap: str = "",
    seeds: str = "",
    jobs: str = "",
    exhaustive: bool = False,
    search: bool = True,
    output: str = "",
    json: bool = False,
) -> None:
    """Show how much heap a scenario or a trace needs on each allocator, and how much is lost."""
    from cli import known, options

    with one_sentence():
        options.check_whole(seeds=seeds, jobs=jobs)
        chosen = options.parse(parameter=parameter, knob=knob, heap=heap, scale=scale)
        known.check(allocators_=known.words(allocator), knobs_=chosen.knobs)
        from analysis.fragmentation import text
        from cli import fragmentation as room

        rows = room.run(
            name,
            trace=trace,
            scale=scale,
            allocator=allocator,
            heap=heap,
            seeds=seeds,
            parameter=parameter,
            knob=knob,
            jobs=jobs,
            exhaustive=exhaustive,
            search=search,
            runs=runs,
            output=output,
        )
    print(json_format.dumps([row.as_json() for row in rows], indent=2) if json else text.as_text(rows))
    if output and not json:
        print(f"page: {output}")


@task(
    help={
        "allocator": "one or more allocators, separated by commas, or all",
        "budget": "for each search: how many lists to try, or for how many seconds, such as 30s",
        "seed": "what the lists are drawn from",
        "what": "allocate, free, fragmentation, or several with commas",
        "live": "for fragmentation: the most bytes that may be live",
        "jobs": "how many searches go on at a time; all cores when not given",
        "output": "the folder for the winners, each a trace; build/adversary/found when not given",
        "json": "print JSON",
    },
)
def adversary(
    _context: Context,
    allocator: str = "all",
    budget: str = "20000",
    seed: str = "1",
    what: str = "allocate,free,fragmentation",
    live: str = "8192",
    jobs: str = "",
    output: str = "",
    json: bool = False,
) -> None:
    """Search for an allocator's worst operations, and run them on the virtual board."""
    from cli import known, options

    with one_sentence():
        options.check_whole(seed=seed, live=live, jobs=jobs)
        known.check(allocators_=known.words(allocator))
        from cli import adversary as room
        from studies.adversary import text

        rows = room.run(allocator, budget=budget, what=what, seed=seed, live=live, jobs=jobs, output=output)
    print(json_format.dumps([row.as_json() for row in rows], indent=2) if json else text.as_text(rows))


@task(
    positional=["command"],
    iterable=["command"],
    help={
        "command": "the program and its words, behind --",
        "output": "the trace to write",
        "every": "write the other processes' traces too, beside it and numbered",
        "most": "how many operations to keep of each process; a reallocation counts twice",
        "log": "instead of a command: what a board said, in a file (docs/TRACES.md)",
        "serial": "instead of a command: the port on which a board says it",
        "baud": "of the port; 115200 when not given",
        "seconds": "how long to listen to the port; until Ctrl-C when not given",
    },
)
def record(
    _context: Context,
    command: list[str],
    output: str = str(ROOT / "build" / "trace.csv"),
    every: bool = False,
    most: str = "",
    log: str = "",
    serial: str = "",
    baud: str = "",
    seconds: str = "",
) -> None:
    """Record what a program asks of its heap: `./lab record -- COMMAND…`; or a board's firmware."""
    from cli import record as room

    with one_sentence():
        status = room.run(
            command,
            output=output,
            every=every,
            most=most,
            log=log,
            serial=serial,
            baud=baud,
            seconds=seconds,
        )
    if status:
        raise Exit(code=status)


@task(
    help={
        "allocator": "one or more allocators, separated by commas, or all",
        "host": "on this machine, in a heap of 8 MiB: instructions, and how they grow with free blocks",
        "json": "print JSON",
    },
)
def worst(_context: Context, allocator: str = "all", host: bool = False, json: bool = False) -> None:
    """Build each allocator's own worst allocation and free, and run them on every allocator."""
    from cli import known

    with one_sentence():
        known.check(allocators_=known.words(allocator))
        from cli import worst as room
        from studies.worst import text

        found = room.run(allocator, host)
    print(json_format.dumps(found.as_json(), indent=2) if json else text.as_text(found))


@task(
    help={
        "allocator": "one or more, separated by commas: names, or C files of your own",
        "json": "print JSON",
    },
)
def contract(_context: Context, allocator: str, json: bool = False) -> None:
    """Hold an allocator to the contract, and show the shortest operations that break it."""
    from cli import known

    with one_sentence():
        known.check(allocators_=known.words(allocator))
        from analysis.contract import text
        from cli import contract as room

        found = room.run(allocator)
    told = "\n\n".join(map(text.as_text, found))
    print(json_format.dumps([one.as_json() for one in found], indent=2) if json else told)
    if not all(one.holds for one in found):
        raise Exit(code=1)


@task(
    positional=["table"],
    iterable=["table"],
    help={
        "table": "tables of five publications, as --list names them; all when none is given",
        "quick": "fewer seeds, and only the allocators that a table has",
        "list": "name the tables and say how each compares",
        "jobs": "how many processes share the work; all cores when not given",
        "output": "the folder for pages and CSV files",
        "json": "print JSON",
    },
)
def reproduce(
    _context: Context,
    table: list[str],
    quick: bool = False,
    list: bool = False,
    jobs: str = "",
    output: str = str(REPRODUCED),
    json: bool = False,
) -> None:
    """Make the tables of five publications again, beside their published values."""
    from cli import options

    with one_sentence():
        options.check_whole(jobs=jobs)
        from cli import reproduce as room
        from studies.reproduce.beside import rows

        if list:
            print(room.listing())
            return
        whole = "" if table or quick else str(ROOT / "docs" / "reference")
        done = room.run(table, quick=quick, jobs=jobs, output=output, pages_of_all=whole)
    if json:
        print(json_format.dumps([row for made in done for row in rows(made)], indent=2))
    else:
        print(room.as_text(done, output))


@task(
    help={
        "minutes": "how long; the run under way is finished",
        "runs": "instead: how many runs",
        "seed": "what the faults are drawn from",
        "board": "one or more of virtual and desk, separated by commas; both when not given",
        "fault": "faults of docs/DESK.md to draw from, separated by commas; all when not given",
        "output": "the folder for the results, which gets a folder for each soak",
        "json": "print JSON",
    },
)
def soak(
    _context: Context,
    minutes: str = "",
    runs: str = "",
    seed: str = "1",
    board: str = "",
    fault: str = "",
    output: str = str(ROOT / "build" / "soak"),
    json: bool = False,
) -> None:
    """Run after run on the virtual board and the emulated desk, with faults; account for each."""
    from cli import soak as room
    from quality.soak import soak as soak_soak

    with one_sentence(), signals.orderly():
        found = room.run(minutes=minutes, runs=runs, seed=seed, board=board, fault=fault, output=output)
        print(json_format.dumps(found.as_json(), indent=2) if json else soak_soak.as_text(found))
    if not found.sound:
        raise Exit(code=1)


@task(
    positional=["file"],
    iterable=["file"],
    help={
        "file": "files to mutate; without any, those that make numbers and verdicts of a capture",
        "n": "how many mutants to draw",
        "seed": "what they are drawn from",
        "jobs": "how many of them are tried at a time",
        "json": "print JSON",
    },
)
def mutants(
    _context: Context, file: list[str], n: int = 100, seed: int = 1, jobs: int = 1, json: bool = False
) -> None:
    """Change the code that judges in small ways, and tell which changes no test notices."""
    from cli import progress
    from quality.mutants import mutants as room

    with one_sentence(), progress.shown() as shown:
        shown("the tests without any mutant")
        found = room.run(file, n, seed, jobs, lambda done: shown(f"{done:,} of at most {n:,} mutants tried"))
    print(json_format.dumps(found.as_json(), indent=2) if json else room.as_text(found))
    if not found.sound:
        raise Exit(code=1)


@task(name="list", help={"json": "print JSON"})
def inventory(_context: Context, json: bool = False) -> None:
    """Show scenarios, allocators (kind, locking, complexity, licence, origin) and boards."""
    from cli import inventory as room

    with one_sentence():
        print(json_format.dumps(room.inventory(), indent=2) if json else room.as_text())


@task(
    positional=[],
    iterable=["knob"],
    help={
        "json": "print JSON",
        "allocator": "one or more, separated by commas; all, or all that have the knobs, when none is given",
        "knob": "a number of the heap's build, NAME=VALUE; may be repeated",
    },
)
def footprint(_context: Context, knob: list[str], allocator: str = "", json: bool = False) -> None:
    """Show what each allocator takes of flash and RAM, and of its region beside its blocks."""
    from cli import footprint as room

    with one_sentence():
        print(room.run(allocator, knob, as_json=json))


@task(help={"allocator": "one or more allocators, separated by commas; all when none is given"})
def build(_context: Context, allocator: str = "") -> None:
    """Build the virtual Nucleo and the firmware of each allocator."""
    from cli import builds

    with one_sentence():
        for path in builds.run(allocator):
            print(path)


@task(
    positional=["what"],
    help={
        "what": "simulator, capture, campaign, or dashboard",
        "repeats": "how many times; medians are printed",
        "json": "print JSON",
    },
)
def bench(_context: Context, what: str, repeats: int = 5, json: bool = False) -> None:
    """Measure a speed, side by side with what it is compared to: `./lab bench simulator`."""
    from cli import benchmarks

    with one_sentence():
        found = benchmarks.run(what, repeats, RUNS)
    print(json_format.dumps(found.document, indent=2) if json else found.text)


@task
def perturbation(_context: Context) -> None:
    """Show what pins, cycle counter and records cost, beside builds without them."""
    from cli import progress

    with one_sentence():
        with progress.shown() as tell:
            tell("building the virtual Nucleo")
            from quality import perturbation as room

            found = room.table(tell=progress.Counted(tell, room.steps()))
        print(found)


@task(help={"cases": "how many random instructions", "seed": "what they are drawn from"})
def differential(_context: Context, cases: int = 10_000_000, seed: int = 1) -> None:
    """Compare the simulated core with Unicorn over every encoding, and report the coverage."""
    from quality import differential as room

    report = room.run(cases, seed=seed)
    print(report.as_text())
    if report.divergences:
        raise Exit(code=1)


@task(
    positional=["room"],
    iterable=["room"],
    help={"room": "folders such as simulator, capture/verdict or heap/tlsf; all when none is given"},
)
def test(_context: Context, room: list[str]) -> None:
    """Run every check of the project, or those of the given rooms: `./lab test [ROOM...]`."""
    from cli import suite

    with one_sentence():
        failed = suite.run(room)
    if failed:
        raise Exit(code=1)


@task
def clean(_context: Context) -> None:
    """Remove what was built. Runs are kept."""
    for folder in ("build", "simulator/target"):
        shutil.rmtree(ROOT / folder, ignore_errors=True)


@task(help={"output": "the folder to write to; what is in it is replaced"})
def site(_context: Context, output: str = str(SITE)) -> None:
    """Write the pages as a site that needs no network: README.md, docs and the rooms' own pages."""
    from cli import site as room

    with one_sentence():
        print(room.write(Path(output)))


@task(help={"board": "an entry of bench.toml: look at what is plugged in for it, too", "json": "print JSON"})
def doctor(_context: Context, board: str = "", json: bool = False) -> None:
    """Show what is installed and, with --board, plugged in; what is missing and how to get it."""
    from cli import doctor as room

    with one_sentence():
        found = room.report(board or None)
    print(json_format.dumps(found.as_json(), indent=2) if json else found.as_text())
    if not found.can_run:
        raise Exit(code=1)


@task(
    positional=["run"],
    iterable=["run", "limit"],
    help={
        "run": "run folders, of any board; on a real one those of equal settings are repetitions",
        "baseline": "the file to judge by, which --update writes (docs/CI.md)",
        "update": "make the runs the baseline, and say what that changes",
        "limit": "QUANTITY=LIMIT of allocate, free, interrupt or task: allocate=10us; may be repeated",
        "named": "how many operations to name of each quantity; 10 when not given",
        "junit": "a file of JUnit XML to write: a test case a run and quantity",
        "markdown": "a file to write for a pull request",
        "json": "print JSON",
    },
)
def gate(
    _context: Context,
    run: list[str],
    limit: list[str],
    baseline: str = "",
    update: bool = False,
    named: str = "",
    junit: str = "",
    markdown: str = "",
    json: bool = False,
) -> None:
    """Say whether stored runs are as good as a baseline: `./lab gate --baseline FILE RUN...`."""
    from cli import gate as room

    with one_sentence(exit_status=2):
        done = room.run(
            run,
            baseline=baseline,
            renew=update,
            limit=limit,
            named=named,
            as_json=json,
            junit_file=junit,
            markdown_file=markdown,
        )
    print(done.text)
    if done.exit_status:
        raise Exit(code=done.exit_status)


@task(
    help={
        "pins": "which pin each channel is on: CRIT=PA8,STIM=PA0,ISR=PA10 (docs/OBSERVE.md)",
        "elf": "the program to load, built for the board; what is on a real board runs when not given",
        "board": "an entry of bench.toml; its default when not given",
        "duration": "how long to capture: 2s, 500ms",
        "samplerate": "samples per second, e.g. 24000000 or 24m; the analyzer's of bench.toml when not given",
        "edges": "which edges of STIM and CTRL are stimuli: both, rising or falling",
        "json": "print JSON: run.json, and the folder",
    },
)
def observe(
    _context: Context,
    pins: str = "",
    elf: str = "",
    board: str = "",
    duration: str = "1s",
    samplerate: str = "",
    edges: str = "both",
    json: bool = False,
) -> None:
    """Observe any program from the wire alone: `./lab observe --pins CRIT=PA8,… --elf my.elf`."""
    from cli import observe as room

    with one_sentence(exit_status=2):
        complete = room.show(
            pins=pins,
            elf=elf,
            board=board,
            duration=duration,
            samplerate=samplerate,
            edges=edges,
            runs_folder=RUNS,
            json=json,
        )
    if not complete:
        raise Exit(code=1)


@task(
    positional=["what"],
    help={
        "what": "plan: which clip goes where; check: move each pin in turn and say which clip is on it",
        "board": "an entry of bench.toml; its default when not given",
        "svg": "with plan: draw it into this file, too",
        "json": "print JSON",
    },
)
def wiring(_context: Context, what: str, board: str = "", svg: str = "", json: bool = False) -> None:
    """Show which clip goes where, or check it: `./lab wiring plan`, `./lab wiring check`."""
    from cli import wiring as room

    with one_sentence(exit_status=2):
        done = room.run(what, board or None, svg, as_json=json)
    print(done.text)
    if done.exit_status:
        raise Exit(code=done.exit_status)


@task(
    positional=["shell"],
    help={"shell": "bash or zsh"},
)
def completion(_context: Context, shell: str) -> None:
    """Print what has Tab complete commands and names: `eval "$(./lab completion bash)"`."""
    from cli import completion as room

    with one_sentence():
        print(room.script(shell))


@contextmanager
def one_sentence(exit_status: int = 1) -> Iterator[None]:
    """Turns what a user can mend into its sentence and a non-zero exit, without a traceback."""
    from base.files.errors import TailscopeError

    try:
        yield
    except TailscopeError as error:
        raise Exit(str(error), code=exit_status) from None
    except signals.Stopped as stopped:
        raise Exit(str(stopped), code=stopped.exit_status) from None


def _conduct(
    scenarios: Sequence[str],
    allocator: str,
    options: Callable[[], Options | None],
    summary: str,
    full: bool,
) -> None:
    from cli import scenario as room

    with one_sentence():
        complete = room.run(
            scenarios,
            allocator,
            options,
            summary=summary,
            full=full,
            runs_folder=RUNS,
            dashboard=DASHBOARD,
        )
    if not complete:
        raise Exit(code=1)
