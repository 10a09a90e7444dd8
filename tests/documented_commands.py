"""The table of the commands in the pages: how each is tried, or where.

`command` is what a page has, in one line, as tests/pages.py
reads it. A row stands for that command in every page.
"""

from __future__ import annotations

from dataclasses import dataclass

SMALL = "--parameter depth=8 --parameter trials=1"
"""mem_frag, small enough to be run often, and large enough
for interrupts to fall into its operations.
"""
ONE_RUN = f"--allocator tlsf {SMALL}"


@dataclass(frozen=True)
class Tried:
    """A command that is run for real, in a folder that looks like the repository (see Desk).

    `typed` is what is run instead of the page's own words, and `why` what differs and why. `then`
    is run behind it to look at what it left. `says` is a pattern of what both print. `folder` is
    where the page has the reader work. `after` is the row that must have been tried before. `tool`
    may be missing on a user's machine. `of_a_board` is true where the page means a board on the
    desk, and the virtual one stands in.
    """

    command: str
    says: str
    typed: str = ""
    why: str = ""
    then: str = ""
    status: int = 0
    folder: str = "."
    after: str = ""
    tool: str = ""
    of_a_board: bool = False

    def __str__(self) -> str:
        return self.command


@dataclass(frozen=True)
class Elsewhere:
    """A command that another test or check runs, or that cannot be run here: `why` says which.

    `words` stand in `place`, which does what the command does, or the part of it that can be tried.
    `of_a_board` is true of what needs a board on the desk.
    """

    command: str
    place: str
    words: str
    why: str = ""
    of_a_board: bool = False

    def __str__(self) -> str:
        return self.command


SHARED_RUN = Tried(
    "./lab scenario mem_frag --allocator tlsf --parameter depth=64",
    says=r"/runs/\S+-mem_frag-tlsf-virtual\n",
    typed=f"./lab scenario mem_frag {ONE_RUN}",
    why="fewer operations",
)
"""RUN is the folder of this run wherever a command asks for one."""

LAB = (
    Tried("./lab", says=r"Choose an allocator"),
    Tried("./lab scenario --help", says=r"--allocator=ALLOCATOR"),
    Tried("./lab --version", says=r"Tailscope \d+\.\d+"),
    Tried("./lab completion bash", says=r"^complete .* lab"),
    Tried(
        "./lab scenario mem_frag --summary json",
        says=r'"verdict": "complete"',
        typed=f"./lab scenario mem_frag --summary json --capture direct {ONE_RUN}",
        why="one allocator, fewer operations, and once for two rows",
    ),
    Tried(
        "./lab demo",
        says=r"dashboard: \S+/build/dashboard\.html\n(\S+/runs/\S+-virtual\n){4}",
        then="test -s build/dashboard.html",
    ),
    Tried("./lab list", says=r"allocators: kind, locking"),
    Tried("./lab doctor", says=r"sigrok"),
    SHARED_RUN,
    Tried(
        "./lab scenario mem_frag --allocator all",
        says=r"-mem_frag-my_heap-virtual\n\S+-mem_frag-tlsf-virtual\n",
        typed=f"./lab scenario mem_frag --allocator docs/examples/my_heap.c,tlsf {SMALL}",
        why="two allocators, fewer operations; console/tests/test_choose_allocators.py tries `all`",
    ),
    Tried(
        "./lab scenario mem_frag --art on,off",
        says=r"tlsf, ART off: built",
        typed=f"./lab scenario mem_frag --art on,off {ONE_RUN}",
        why="one allocator, fewer operations",
    ),
    Tried(
        "./lab scenario mem_frag --locking basepri,scheduler",
        says=r"tlsf, scheduler: built",
        typed=f"./lab scenario mem_frag --locking basepri,scheduler {ONE_RUN}",
        why="one allocator, fewer operations",
    ),
    Tried(
        "./lab scenario mem_frag --allocator half_fit_cstm --knob SEARCH_THRESHOLD=10",
        says=r"half_fit_cstm, SEARCH_THRESHOLD=10: built",
        typed=f"./lab scenario mem_frag --allocator half_fit_cstm --knob SEARCH_THRESHOLD=10 {SMALL}",
        why="fewer operations",
    ),
    Tried(
        "./lab scenario lifetimes_small --heap 86064",
        says=r"tlsf, heap of 86,064 bytes: built",
        typed="./lab scenario lifetimes_small --heap 86064 --allocator tlsf --parameter allocations=60",
        why="one allocator, fewer operations",
    ),
    Tried(
        "./lab scenario lifetimes_small --heap 86064 --allocator tlsf,o1heap",
        says=r"tlsf, heap 86,064",
        typed="./lab scenario lifetimes_small --heap 86064 --allocator tlsf --parameter allocations=60",
        why="one allocator, fewer operations",
    ),
    Tried(
        "./lab scenario mem_frag --records rtt",
        says=r"-mem_frag-tlsf-virtual\n",
        typed=f"./lab scenario mem_frag --records rtt {ONE_RUN} --duration 2",
        why="one allocator, fewer operations, and time for a reader that a busy machine makes late",
    ),
    Tried(
        "./lab scenario mem_stress --seed 7 --samplerate 24m --stimulus periodic:5003,7919",
        says=r"-mem_stress-tlsf-virtual\n",
        typed="./lab scenario mem_stress --seed 7 --samplerate 24m --stimulus periodic:5003,7919 "
        "--allocator tlsf --parameter operations=120",
        why="one allocator, fewer operations",
    ),
    Tried(
        "./lab scenario latency_sweep",
        says=r"-latency_sweep-tlsf-virtual\n",
        typed="./lab scenario latency_sweep --allocator tlsf --parameter depth=1 --parameter depths=1 "
        "--parameter fine_cycles=8 --parameter step_cycles=64",
        why="one allocator, a short and coarse sweep",
    ),
    Tried(
        "./lab scenario kernel_masking",
        says=r"-kernel_masking-tlsf-virtual\n",
        typed="./lab scenario kernel_masking --allocator tlsf --parameter depth=2 --parameter rounds=12",
        why="one allocator, few rounds",
    ),
    Tried(
        "./lab dashboard RUN",
        says=r"build/adjusted\.html\n[1-9]",
        typed="./lab dashboard RUN --subtract-baseline --without-ticks --output=build/adjusted.html",
        why="with the options that the README names, and into a file of its own",
        then="grep -c mem_frag build/adjusted.html",
    ),
    Tried("./lab extremes RUN", says=r"No estimate\. The scenario is a ramp"),
    Tried(
        "./lab histograms RUN",
        says=r"dwt_cycles\.hgrm",
        then="test -s build/histograms/$(basename RUN)/dwt_cycles.hgrm",
    ),
    Tried("./lab explain RUN", says=r"call stack at cycle [\d,]+\n +\w+"),
    Tried(
        "./lab explain RUN --perfetto run.json",
        says=r"file: run\.json",
        then="python3 -m json.tool run.json > /dev/null",
    ),
    Tried(
        "./lab explain RUN [--quantity allocate|free|interrupt|task] [--perfetto FILE]",
        says=r"interrupt\.json",
        typed="./lab explain RUN --quantity interrupt",
        why="one of the four; the row above tries `allocate`",
        then="ls RUN/explain",
    ),
    Tried(
        "./lab twin RUN",
        says=r"^The board agrees with the virtual board\s+to the cycle in all [\d,]+ operations\.",
    ),
    Tried(
        "./lab twin RUN --output twin.html",
        says=r"page: twin\.html",
        then="grep -c 'The board agrees' twin.html",
    ),
    Tried(
        "./lab twin RUN [--json] [--output FILE.html]",
        says=r'"verdict": "The board agrees',
        typed="./lab twin RUN --json",
        why="one of the options; the rows above try the others",
    ),
    Elsewhere(
        "./lab twin RUN --json",
        "analysis/twin/tests/test_comparison.py",
        "json.dumps(found.as_json(), allow_nan=False)",
    ),
    Tried("./lab compare RUN RUN", says=r"^equal to the cycle, [\d,]+ operations$"),
    Tried("./lab compare RUN RUN --json", says=r'"status": "equal"'),
    Tried(
        "./lab compare A B [--json] [--output FILE.html]",
        says=r'"status": "equal"',
        typed="./lab compare RUN RUN --json",
        why="two runs that are there; the rows beside it try the options",
    ),
    Tried(
        "./lab compare RUN RUN --output compare.html",
        says=r"page: compare\.html",
        then="grep -c 'equal to the cycle' compare.html",
    ),
    Elsewhere(
        "./lab compare A B --json",
        "analysis/compare/tests/test_comparison.py",
        "json.dumps(as_json(found), allow_nan=False)",
    ),
    Elsewhere(
        "./lab compare ../main .",
        "analysis/compare/tests/test_comparison.py",
        'write(tmp_path / "b" / "runs", allocator="tlsf")',
    ),
    Tried("./lab redecode RUN", says=r"^complete$"),
    Tried(
        "./lab faults",
        says=r"^ *mem_stress at 84 MS/s|planted",
        typed="./lab faults --n 4",
        why="four faults, not a thousand",
    ),
    Tried(
        "./lab faults RUN RUN --n 5000 --jobs 2",
        says=r"planted",
        typed="./lab faults RUN --n 4 --jobs 2",
        why="four faults in one run",
    ),
    Tried(
        "./lab faults --replay shifted_edge.STIM:3",
        says=r"the edge of STIM at [\d,]+ comes [\d,]+ samples",
        typed="./lab faults RUN --replay shifted_edge.STIM:3",
        why="in a run that is there",
    ),
    Tried(
        "./lab faults [RUN…] [--n N] [--seed S] [--replay KIND:NUMBER] [--jobs N] [--json]",
        says=r"--replay=REPLAY",
        typed="./lab --help faults",
        why="a synopsis: the help must know its options",
    ),
    Elsewhere(
        "./lab soak --runs 2 --board desk --fault board-hung",
        "quality/soak/tests/test_catalogue.py",
        '"board-hung",',
    ),
    Elsewhere("./lab app", "console/tests/test_app.py", '"cli", "app"'),
    Elsewhere("./lab app --port 0 --runs FOLDER", "console/tests/test_app.py", '"app", "--port", "0"'),
    Elsewhere("./lab soak --minutes 60", "quality/soak/tests/test_soak.py", '"--minutes", "60"'),
    Elsewhere(
        "./lab soak --minutes 60 --seed 7 --board desk --json",
        "quality/soak/tests/test_soak.py",
        '"--json"',
    ),
    Tried(
        "./lab soak (--minutes N | --runs N) [--seed S] [--board virtual,desk] [--fault NAME,…] [--json]",
        says=r"--minutes=MINUTES",
        typed="./lab --help soak",
        why="a synopsis: the help must know its options",
    ),
    Elsewhere(
        "./lab mutants FILE",
        "quality/mutants/tests/test_mutants.py",
        "trial.fates(root",
        why="runs the tests of seven rooms for each mutant; that test tries the mutants of a small room",
    ),
    Elsewhere(
        "./lab mutants capture/joining/budget.py --n 40 --jobs 2",
        "quality/mutants/tests/test_mutants.py",
        "campaign.run(files",
        why="the same",
    ),
    Tried(
        "./lab mutants [FILE…] [--n N] [--seed S] [--jobs N] [--json]",
        says=r"--jobs=JOBS",
        typed="./lab --help mutants",
        why="a synopsis: the help must know its options",
    ),
    Tried(
        "./lab bench simulator",
        says=r"unicorn_hook_ratio: ",
        typed="./lab bench simulator --repeats 1",
        why="once, not five times",
    ),
    Tried(
        "./lab bench dashboard",
        says=r"load_s: \d",
        typed="./lab bench dashboard --repeats 1",
        why="once, not five times",
        after="./lab demo",
        tool="chromium",
    ),
    Tried(
        "./lab bench capture",
        says=r"edge every n    found  sigrok-cli    ratio",
        typed="./lab bench capture --repeats 1",
        why="once, not five times",
    ),
    Tried(
        "./lab bench campaign",
        says=r"campaign, 2 workers, direct: \d\.\d{3} s[,;].* it may take",
        typed="./lab bench campaign --repeats 1",
        why="once, not five times",
    ),
    Tried(
        "./lab scenario mem_frag --capture direct",
        says=r'"verdict": "complete"',
        typed=f"./lab scenario mem_frag --summary json --capture direct {ONE_RUN}",
        why="one allocator, fewer operations, and once for two rows",
    ),
    Tried(
        "./lab differential --cases 1000000",
        says=r" 0  in all",
        typed="./lab differential --cases 1000",
        why="as few cases as there may be",
    ),
    Tried(
        "./lab contract --allocator my_heap.c",
        says=r"my_heap: allocator\.h.*\n.* lists of operations hold",
        typed="./lab contract --allocator docs/examples/my_heap.c",
        why="the reader's file is the one of docs/tutorial/my-allocator.md",
    ),
    Tried(
        "./lab contract --json",
        says=r'"holds": true',
        typed="./lab contract --allocator docs/examples/my_heap.c --json",
        why="it needs an allocator",
    ),
    Tried("./lab contract --allocator docs/examples/my_heap.c", says=r"\nthe contract holds\n"),
    Tried(
        "./lab scenario mem_frag --allocator docs/examples/my_heap.c,tlsf",
        says=r"-mem_frag-my_heap-virtual\n\S+-mem_frag-tlsf-virtual\n",
        typed=f"./lab scenario mem_frag --allocator docs/examples/my_heap.c,tlsf {SMALL}",
        why="fewer operations",
    ),
    Tried(
        "./lab fragmentation mem_stress --allocator docs/examples/my_heap.c,tlsf",
        says=r"my_heap +0 .*\n(.*\n)*tlsf +0 ",
        typed="./lab fragmentation mem_stress --allocator docs/examples/my_heap.c,tlsf "
        "--parameter operations=200",
        why="fewer operations",
    ),
    Tried(
        "./lab fragmentation mem_stress",
        says=r"mem_stress: operations 200, seed 0x1234abcd",
        typed="./lab fragmentation mem_stress --allocator tlsf,best_fit --parameter operations=200",
        why="two of all allocators, fewer operations; console/tests/test_fragmentation.py tries `all`",
    ),
    Tried(
        "./lab fragmentation mem_stress --allocator tlsf,heap_4,ublox_buddy",
        says=r"Cost Metric",
        typed="./lab fragmentation mem_stress --allocator tlsf,heap_4,ublox_buddy --parameter operations=200",
        why="fewer operations",
    ),
    Tried(
        "./lab fragmentation lifetimes_typical --heap 86064 --seeds 32",
        says=r"3 seeds from 0x1; .* a heap of 86,064 bytes",
        typed="./lab fragmentation lifetimes_typical --heap 86064 --seeds 3 --allocator tlsf "
        "--parameter allocations=100",
        why="fewer seeds and allocations, one allocator",
    ),
    Tried(
        "./lab fragmentation periodic_small --heap 131072 --seeds 24 --no-search",
        says=r"from the start: mean",
        typed="./lab fragmentation periodic_small --heap 131072 --seeds 3 --no-search --allocator tlsf "
        "--parameter ticks=300",
        why="fewer seeds and ticks, one allocator",
    ),
    Elsewhere(
        "./lab fragmentation --trace trace.csv --allocator all --json",
        "console/tests/test_fragmentation.py",
        '"--trace", trace(tmp_path, "a,1,100',
        why="the words are run there, with one allocator and a trace of five operations",
    ),
    Tried(
        "./lab record -- git log -3",
        says=r"/trace\.csv: [\d,]+ operations of git, at most [\d,]+ bytes live in",
        typed="./lab record -- git -C . --version",
        why="in no repository",
    ),
    Tried(
        "./lab record --output trace.csv -- git log -3",
        says=r"trace\.csv: [\d,]+ operations of git, at most",
        typed="./lab record --output trace.csv -- git -C . --version",
        why="in no repository",
        then="head -n 2 trace.csv",
    ),
    Tried(
        "./lab fragmentation --trace trace.csv --heap 8388608 --allocator tlsf,best_fit",
        says=r"trace\.csv: operations [\d,]+; .* a heap of 8,388,608 bytes",
        after="./lab record --output trace.csv -- git log -3",
    ),
    Tried(
        "./lab scenario recorded --trace trace.csv --scale auto --allocator tlsf",
        says=r"/runs/\S+-recorded-tlsf-virtual\n",
        after="./lab record --output trace.csv -- git log -3",
    ),
    Elsewhere(
        "./lab record -- COMMAND…",
        "recording/tests/test_record.py",
        '"--output", str(output), "--", "sh"',
        why="the general form",
    ),
    Elsewhere(
        "./lab record --serial /dev/ttyACM0 --baud 115200 --output trace.csv",
        "recording/tests/test_board_log.py",
        "serial=os.ttyname(there)",
        why="on a PTY, to which the test writes",
    ),
    Elsewhere(
        "./lab record --log heap.log --output trace.csv",
        "recording/tests/test_board_log.py",
        'log=str(tmp_path / "heap.log")',
        why="that test calls what the command calls",
    ),
    Tried(
        "./lab scenario recorded_dash --allocator all",
        says=r"-recorded_dash-tlsf-virtual\n",
        typed="./lab scenario recorded_dash --scale 20 --allocator tlsf",
        why="one allocator, one block in twenty",
    ),
    Tried(
        "./lab fragmentation recorded_jq --allocator all",
        says=r"recorded_jq: operations 998; live at most 40,322 bytes",
        typed="./lab fragmentation recorded_jq --allocator tlsf",
        why="one allocator",
    ),
    Elsewhere(
        "./lab fragmentation --trace FILE",
        "console/tests/test_fragmentation.py",
        '"--trace", trace(tmp_path, "a,1,100',
    ),
    Elsewhere(
        "./lab fragmentation mem_stress --allocator tlsf,heap_4 --runs RUN --output heap.html",
        "console/tests/test_fragmentation.py",
        '"--runs", str(ran), "--output"',
        why="with one allocator, a small scenario and a run of it",
    ),
    Elsewhere(
        "./lab fragmentation --output FILE",
        "console/tests/test_fragmentation.py",
        '"--runs", str(ran), "--output"',
    ),
    Elsewhere("./lab fragmentation --json", "console/tests/test_fragmentation.py", '"best_fit", "--json"'),
    Elsewhere(
        "./lab adversary --allocator seglist,tlsf",
        "console/tests/test_adversary.py",
        'adversary.run("seglist", **words',
        why="called there with a budget of 300 lists",
    ),
    Elsewhere("./lab adversary --json", "console/tests/test_adversary.py", "json.dumps(row.as_json())"),
    Elsewhere(
        "./lab adversary --allocator all --budget 60s",
        "studies/adversary/tests/test_search.py",
        "Budget(seconds=0.05)",
        why="takes minutes: the budget in seconds is tried there, the choice of all in console/tests",
    ),
    Elsewhere(
        "./lab adversary --allocator avl --what fragmentation --live 16384 --json",
        "console/tests/test_adversary.py",
        '"what": "free,fragmentation"',
        why="called there on seglist, with fewer bytes",
    ),
    Elsewhere(
        "./lab worst",
        "studies/worst/tests/test_matrix.py",
        'worst("--allocator", "tlsf", "--json")',
        why="with one allocator",
    ),
    Elsewhere(
        "./lab worst --allocator first_fit,tlsf --json",
        "studies/worst/tests/test_matrix.py",
        'worst("--allocator", "tlsf", "--json")',
        why="with one allocator",
    ),
    Elsewhere(
        "./lab worst --json",
        "studies/worst/tests/test_matrix.py",
        'worst("--allocator", "tlsf", "--json")',
        why="with one allocator",
    ),
    Elsewhere(
        "./lab worst --host",
        "studies/worst/tests/test_matrix.py",
        'command.run("tlsf_compact", on_host=True)',
        why="with one allocator",
    ),
    Tried("./lab reproduce --list", says=r"article-8 +exactly +Search cost under mem_stress"),
    Tried(
        "./lab reproduce",
        says=r"thesis-1 +all 12 equal\nthesis-2 .*\npages: \S+reproduced\.html",
        typed="./lab reproduce thesis-1 thesis-2",
        why="two tables that need no run; tests/test_reproduced.py makes others again",
    ),
    Tried(
        "./lab reproduce article-8 thesis-6",
        says=r"article-8 +all 12 equal",
        typed="./lab reproduce article-8 --quick",
        why="one of the two, and only its own allocators",
    ),
    Tried(
        "./lab reproduce --quick",
        says=r"article-10 +all 8 equal",
        typed="./lab reproduce article-10 --quick",
        why="one table",
    ),
    Elsewhere("./lab footprint", "firmware/build/tests/test_footprint.py", '"cli", "footprint"'),
    Elsewhere(
        "./lab footprint [--json]",
        "firmware/build/tests/test_footprint.py",
        '"cli", "footprint"',
        why="the table is run there; of --json only its name is checked here",
    ),
    Elsewhere(
        "./lab footprint --knob FLL=2",
        "firmware/build/tests/test_footprint.py",
        'footprint.measure("tlsf_crate", {"FLL": fll})',
        why="the figures are measured there; here only the option's name is checked",
    ),
    Elsewhere(
        ".venv/bin/python -m firmware.build.crate_page",
        "firmware/build/tests/test_crate_page.py",
        "crate_page.text_table()",
    ),
    Elsewhere("./lab perturbation", "tests/test_perturbation.py", '"cli", "perturbation"'),
    Elsewhere("./lab build", "console/checks.py", '(*_PYTHON, "cli", "build")'),
    Elsewhere("./lab test", ".ci/run", "exec ./lab test"),
    Elsewhere("./lab test style", "console/tests/test_rooms.py", 'names("style")'),
    Elsewhere("./lab test capture/verdict", "console/tests/test_rooms.py", 'names("capture/verdict")'),
    Elsewhere("./lab test simulator", "console/tests/test_rooms.py", 'names("simulator")'),
    Elsewhere("./lab test heap/tlsf", "console/tests/test_rooms.py", 'names("heap/tlsf")'),
    Elsewhere(
        "./lab scenario … --knob NAME=VALUE",
        "tests/documented_commands.py",
        "--knob SEARCH_THRESHOLD=10",
        why="the general form of a row above",
    ),
    Elsewhere(
        "ZEPHYR_PATH=~/zephyr ./lab scenario mem_frag --allocator sys_heap",
        "tests/test_counted_probes.py",
        "NO_ZEPHYR",
        why="needs a user's checkout of Zephyr; with one, that test runs the allocator",
    ),
)

_LOADING = "def test_the_nucleo_is_loaded_halted_and_started_by_its_reset_pin"
_NO_BOARD = "needs a board; what is asked of pyOCD is tried with a stand-in for pyOCD"
_ON_THE_VIRTUAL_BOARD = "on the virtual board"
_BUILD_MINE = (
    "arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb -O1 -g -ffreestanding -nostdlib "
    "-T tests/masked_sections/flash.ld tests/masked_sections/main.c -o my.elf"
)

MASKS = (
    Tried(_BUILD_MINE, says="", then="test -s my.elf"),
    Tried(
        "./lab masks my.elf",
        says=r"^my\.elf, 16,000,000 cycles: the longest interval is 1,001 cycles",
        after=_BUILD_MINE,
    ),
    Tried(
        "./lab masks my.elf --until 5ms",
        says=r"1,001 cycles \(62\.56\sµs\), primask, raised by update_table \(main\.c:56\), "
        r"called by reset \(main\.c:101\); ended by update_table \(main\.c:58\)\.",
        after=_BUILD_MINE,
    ),
    Tried(
        "./lab masks my.elf --until 5ms --output masks.html",
        says=r"file: masks\.html",
        typed="./lab masks my.elf --until 5ms --output masks.html --folded stacks.txt --perfetto trace.json",
        why="once for the three files",
        then="grep -c 'update_table (main.c:56)' masks.html",
        after=_BUILD_MINE,
    ),
    Tried(
        "./lab masks my.elf --until 5ms --folded stacks.txt",
        says=r"^primask;reset;update_table;mask 1001$",
        typed="./lab masks my.elf --until 5ms --output masks.html --folded stacks.txt --perfetto trace.json",
        why="once for the three files",
        then="cat stacks.txt",
        after=_BUILD_MINE,
    ),
    Tried(
        "./lab masks my.elf --until 5ms --perfetto trace.json",
        says=r"file: trace\.json",
        typed="./lab masks my.elf --until 5ms --output masks.html --folded stacks.txt --perfetto trace.json",
        why="once for the three files",
        then="python3 -m json.tool trace.json > /dev/null",
        after=_BUILD_MINE,
    ),
    Tried(
        "./lab masks my.elf --until 5ms --explain",
        says=r"^ +1,001 100\.0% +1,001×  update_table$",
        after=_BUILD_MINE,
    ),
    Tried(
        "./lab masks my.elf --until 5ms --json > masks.json",
        says="",
        then="test -s masks.json",
        after=_BUILD_MINE,
    ),
    Tried(
        "python3 -c \"import json; worst = json.load(open('masks.json'))['worst'][0]; "
        "assert worst['cycles'] <= 1200, worst\"",
        says="",
        after="./lab masks my.elf --until 5ms --json > masks.json",
    ),
    Tried("./lab masks my.elf --until 5ms --gaps", says=r"1,001 cycles", after=_BUILD_MINE),
    Tried(
        "./lab masks my.elf [--until 2s] [--json] [--explain] [--output FILE.html] [--folded FILE] "
        "[--perfetto FILE] [--chip NAME] [--hse HZ|none] [--gaps] [--semihosting]",
        says=r"--perfetto",
        typed="./lab --help masks",
        why="a synopsis; the rows above try the options",
    ),
    Tried(
        "./lab latency my.elf --irq TIM3",
        says=r"^TIM2: the longest wait is 1,014 cycles",
        typed="./lab latency my.elf --irq TIM2 --until 5ms",
        why="the tutorial's program and its interrupt",
        after=_BUILD_MINE,
    ),
    Tried(
        "./lab latency my.elf --irq TIM2 --until 5ms",
        says=r"^TIM2: the longest wait is 1,014 cycles \(63\.38\sµs\), PRIMASK,\s"
        r"set\sat\supdate_table \(main\.c:56\)\.",
        after=_BUILD_MINE,
    ),
    Tried(
        "./lab latency my.elf --irq TIM2 --until 5ms --around update_table",
        says=r"at every cycle of [\d,]+ to [\d,]+",
        after=_BUILD_MINE,
    ),
    Tried(
        "./lab latency my.elf --until 5ms --section update_table..",
        says=r"^update_table\.\.: passed once",
        after=_BUILD_MINE,
    ),
    Tried(
        "./lab latency my.elf [--irq NAME] [--section 'a..b']… [--json]",
        says=r'"irq": "TIM2"',
        typed="./lab latency my.elf --irq TIM2 --until 5ms --around update_table --json",
        why="not at every cycle; the rows above try the other options",
        after=_BUILD_MINE,
    ),
)

BOARD = (
    Tried("./lab wiring plan --board nucleo", says=r"D1 +OP +PA9 +D8 +CN5-1\n"),
    Tried(
        "./lab wiring plan --board nucleo --svg wiring.svg",
        says=r"GND +GND +GND",
        then="grep -c '<path' wiring.svg",
    ),
    Tried("./lab wiring plan --json", says=r'"connector": "CN9-8"'),
    Tried(
        "./lab doctor --board NAME --json",
        says=r'"can_run": true',
        typed="./lab doctor --board virtual --json",
        why="the general form",
    ),
    Tried(
        "./lab wiring check",
        says=r"All eight clips are where they belong\.",
    ),
    Tried(
        "./lab wiring check --board nucleo",
        says=r"D7 +SYNC +right +sees SYNC\n\nAll eight clips are where they belong\.",
        typed="./lab wiring check --board virtual",
        why=_ON_THE_VIRTUAL_BOARD,
        of_a_board=True,
    ),
    Tried(
        "./lab doctor --board nucleo",
        says=r"The bench can run with the board virtual\.",
        typed="./lab doctor --board virtual",
        why=_ON_THE_VIRTUAL_BOARD,
        of_a_board=True,
    ),
    Elsewhere("./lab doctor --board desk", "tests/test_finding_things.py", '"doctor")'),
    Elsewhere("./lab wiring check --board desk", "tests/test_finding_things.py", '"wiring", "check")'),
    Elsewhere(
        "./lab scenario mem_frag --board desk",
        "tests/test_desk.py",
        '"--board", "desk"',
        why="runs of a smaller mem_frag, on devices that umockdev shows",
    ),
    Elsewhere(
        "./lab scenario mem_frag --board nucleo",
        "capture/desk/tests/test_boards.py",
        _LOADING,
        why=_NO_BOARD,
        of_a_board=True,
    ),
    Elsewhere(
        "./lab scenario … --board nucleo",
        "capture/desk/tests/test_boards.py",
        _LOADING,
        why=_NO_BOARD,
        of_a_board=True,
    ),
    Elsewhere(
        "./lab scenario mem_stress --board=nucleo",
        "capture/desk/tests/test_boards.py",
        _LOADING,
        why=_NO_BOARD,
        of_a_board=True,
    ),
    Elsewhere(
        "./lab scenario mem_frag --records rtt --board nucleo",
        "tests/test_rtt.py",
        "RttReader(",
        why="needs a board; the records come by the probe of the virtual one",
        of_a_board=True,
    ),
    Tried(
        ".venv/bin/pyocd flash --target stm32f401retx build/firmware/tlsf/tailscope.elf",
        says=r"\[loader\]",
        typed=".venv/bin/pyocd flash -u remote:127.0.0.1:5555 --target stm32f401retx "
        "build/firmware/tlsf/tailscope.elf",
        why="on the virtual board's probe",
        of_a_board=True,
    ),
    Tried(
        ".venv/bin/pyocd flash --target stm32f401retx --base-address 0x08040000 RUN/operations.bin",
        says=r"operations\.bin at 0x08040000",
        typed=".venv/bin/pyocd flash -u remote:127.0.0.1:5555 --target stm32f401retx "
        "--base-address 0x08040000 RUN/operations.bin",
        why="on the virtual board's probe",
        of_a_board=True,
    ),
    Tried(
        ".venv/bin/pyocd reset --target stm32f401retx --method hw",
        says=r"Performing .* reset",
        typed=".venv/bin/pyocd reset -v -u remote:127.0.0.1:5555 --target stm32f401retx --method hw",
        why="on the virtual board's probe, and not in silence",
        of_a_board=True,
    ),
    Tried(".venv/bin/pyocd list", says=r"probes|Unique ID", of_a_board=True),
    Tried("sigrok-cli --scan", says=r"demo - ", of_a_board=True),
)

DEBUGGING = (
    Tried(
        "simulator/target/release/virtual-nucleo serve build/firmware/tlsf/tailscope.elf "
        "--image RUN/operations.bin@0x08040000 --probe 5555",
        says=r'"probe":"127\.0\.0\.1:\d+"',
        typed="simulator/target/release/virtual-nucleo serve build/firmware/tlsf/tailscope.elf "
        "--image RUN/operations.bin@0x08040000 --probe 0",
        why="on any free port; it ends at once, since its standard input is closed",
    ),
    Tried(
        ".venv/bin/pyocd commander -u remote:127.0.0.1:5555 -t stm32f401retx",
        says=r"Core 0.*(Running|Halted|Sleeping)",
        typed=".venv/bin/pyocd commander -u remote:127.0.0.1:5555 -t stm32f401retx -c status",
        why="with one command, since nobody is there to type",
    ),
    Tried(
        ".venv/bin/pyocd load -u remote:127.0.0.1:5555 -t stm32f401retx build/firmware/tlsf/tailscope.elf",
        says=r"programmed 0 bytes .*, identical [1-9]\d* bytes",
        why="that firmware is there already",
    ),
    Elsewhere(
        ".venv/bin/pyocd gdbserver -u remote:127.0.0.1:5555 -t stm32f401retx "
        "--elf build/firmware/tlsf/tailscope.elf",
        "tests/test_gdb.py",
        '"gdbserver"',
    ),
    Elsewhere(
        'gdb-multiarch build/firmware/tlsf/tailscope.elf -ex "target remote :3333" -ex "monitor reset halt"',
        "tests/test_gdb.py",
        '"monitor reset halt"',
    ),
    Elsewhere(
        ".venv/bin/pyocd rtt",
        "tests/test_rtt.py",
        "RTTControlBlock.from_target",
        why="asks for a terminal; that test calls what the command calls",
    ),
)

_ONE_SIGROK = "SIGROKDECODE_DIR=decoders sigrok-cli"
DECODERS = (
    Tried(f"{_ONE_SIGROK} -P critical_section --show", says=r"limit_cycles"),
    Tried(
        "sigrok-cli -i $RUN -P critical_section:crit=CRIT:op=OP:sync=SYNC "
        "-A critical_section=longest --protocol-decoder-samplenum",
        says=r"\d+-\d+ critical_section-1: \d+ cycles",
    ),
    Tried(
        "sigrok-cli -i $RUN -P critical_section:crit=CRIT:limit_cycles=500 -A critical_section=warning",
        says=r"Longer than 500 cycles",
    ),
    Tried(
        "sigrok-cli -i $RUN -P irq_latency:stim=STIM:isr=ISR:task=TASK:ctrl=CTRL:cisr=CISR:crit=CRIT "
        "-A irq_latency",
        says=r"irq_latency-1: .*cycles",
    ),
    Tried(
        "sigrok-cli -i $RUN -P irq_latency:stim=STIM:isr=ISR -B irq_latency=latencies > latencies.bin",
        says=r"latencies\.bin",
        then="test -s latencies.bin && ls latencies.bin",
    ),
    Tried(
        "sigrok-cli -i $RUN -P critical_section:crit=CRIT -M critical_section",
        says=r"Longest section: \d+\.\d",
    ),
    Elsewhere(
        "./lab pulseview RUN",
        "console/tests/test_pulseview.py",
        "def test_pulseview_itself_opens_a_run_and_decodes_it",
        why="opens a window",
    ),
    Elsewhere(
        "./lab pulseview RUN --worst",
        "console/tests/test_pulseview.py",
        "def test_the_worst_sample_is_between_the_cursors",
        why="opens a window",
    ),
    Elsewhere(
        "./lab pulseview RUN --worst --quantity interrupt",
        "console/tests/test_pulseview.py",
        "def test_the_worst_sample_is_between_the_cursors",
        why="opens a window",
    ),
    Elsewhere(
        "sigrok-cli -i wide.sr -P uart:rx=D8:baudrate=1000000,alloc_records -A alloc_records=warnings",
        "decoders/tests/test_alloc_records.py",
        "def warnings(",
        why="needs a capture with the serial line, which the tests draw",
    ),
    Elsewhere(
        "sigrok-cli -i wide.sr -P uart:rx=D8:baudrate=1000000,alloc_records "
        "-B alloc_records=records > records.log",
        "decoders/tests/test_alloc_records.py",
        '"alloc_records=records") == LOG',
        why="needs a capture with the serial line, which the tests draw",
    ),
)

_ALL_CHANNELS = "CRIT=D0,OP=D1,STIM=D2,ISR=D3,TASK=D4,CTRL=D5,CISR=D6,SYNC=D7"
_EXPORT = "sigrok-cli -i RUN/capture.sr -O vcd -o build/other.vcd"
IMPORTS = (
    Tried("sigrok-cli -L", says=r"Supported input formats:"),
    Tried(_EXPORT, says=r"other\.vcd", then="ls build/other.vcd"),
    Tried("./lab decode build/other.vcd --run RUN", says=r"^complete\n\S+/runs/\S+$", after=_EXPORT),
    Tried(
        "./lab decode build/other.vcd --channels CRIT=CRIT,STIM=STIM,ISR=ISR",
        says=r"STIM to ISR +\d+",
        status=1,
        after=_EXPORT,
    ),
    Tried(
        "./lab decode FILE --run RUN",
        says=r"^complete\n",
        typed="./lab decode RUN/capture.sr --run RUN",
        why="FILE is the run's own capture",
    ),
    Elsewhere(
        f"./lab decode exported/ --channels {_ALL_CHANNELS} --samplerate 100m --run RUN",
        "capture/acquisition/tests/test_imported.py",
        "(writers.logic_2_binary, by_number",
        why="needs an export of Saleae's Logic, which that test writes",
    ),
    Elsewhere(
        f"./lab decode wide.sr --channels {_ALL_CHANNELS} --scenario mem_frag --allocator tlsf "
        "--uart records.log",
        "capture/acquisition/tests/test_imported.py",
        "def test_plan_and_records_are_enough",
        why="needs a capture and its records, which that test draws",
    ),
)

_EXAMPLES = "cmake --build build/probe"
_BARE = "./lab observe --elf build/probe/bare.elf --pins CRIT=PA8,STIM=PA0,ISR=PA10,SYNC=PB4"
OBSERVING = (
    Tried(
        "cmake -S firmware/probe/examples -B build/probe -G Ninja", says=r"Build files have been written to"
    ),
    Tried(
        _EXAMPLES,
        says=r"Linking C executable tasks\.elf",
        after="cmake -S firmware/probe/examples -B build/probe -G Ninja",
    ),
    Tried(
        _BARE,
        says=r"CRIT, empty section +32 (.*\n)+complete\n\S+/runs/\S+-observe-bare-virtual$",
        after=_EXAMPLES,
    ),
    Tried(
        "./lab observe --elf build/probe/tasks.elf --pins CRIT=PA8,OP=PA9,SYNC=PB4 --duration 100ms",
        says=r"OP, width +1\d\d (.*\n)+complete\n",
        after=_EXAMPLES,
    ),
    Tried(
        "./lab observe --elf my.elf --pins CRIT=PA8",
        says=r"^CRIT, width +\d+",
        typed="./lab observe --elf build/probe/bare.elf --pins CRIT=PA8 --duration 50ms",
        why="my.elf is an example",
        after=_EXAMPLES,
    ),
    Tried(
        "./lab observe --elf my.elf --pins CRIT=PA8,STIM=PA0,ISR=PA10 --duration 2s",
        says=r"STIM to ISR +\d+",
        typed="./lab observe --elf build/probe/bare.elf --pins CRIT=PA8,STIM=PA0,ISR=PA10 --duration 50ms",
        why="my.elf is an example, for a shorter time",
        after=_EXAMPLES,
    ),
    Tried(
        "./lab observe --board nucleo --pins CRIT=PA8,STIM=PA0,ISR=PA10 --duration 2s",
        says=r"STIM to ISR +\d+",
        typed="./lab observe --board virtual --elf build/probe/bare.elf --pins CRIT=PA8,STIM=PA0,ISR=PA10 "
        "--duration 50ms",
        why="on the virtual board, which has no program of its own",
        after=_EXAMPLES,
        of_a_board=True,
    ),
    Elsewhere(
        "./lab observe --board desk --elf build/probe/tasks.elf --pins CRIT=PA8,OP=PA9,SYNC=PB4",
        "tests/test_observe.py",
        '"--board", "desk")',
        why="on devices that umockdev shows",
    ),
)

_RUN_OPTIONS = (
    "[--image ops.bin@0x08040000] [--until 100ms|cycles:N] [--edges edges.csv] [--uart-log uart.txt] "
    "[--count name=symbol+0x12] [--stats stats.json] [--timing ideal|nucleo] "
    "[--count-window OP --windows windows.csv] [--stop-on CONDITION]... [--trace-last N] "
    "[--trace trace.jsonl] [--trace-window FROM..TO] [--mark pc:PLACE,...]... [--marks marks.csv] "
    "[--save-snapshot FILE@TIME]... [--save-state FILE@TIME]... [--gaps] "
    "[--itm itm.csv] [--flash-acr 0xVALUE] [--masks masks.csv [--mask-stacks stacks.csv]] [--chip CHIP] "
    "[--hse HZ|none] [--semihosting] [--uart-input FILE|-] [--usart NAME] [--registers]"
)
_LATENCY_OPTIONS = (
    "--exception N --until 100ms|cycles:N [--from 1ms|cycles:N] [--every N | --random COUNT --seed S] "
    "[--enable PRIORITY] [--patience CYCLES] [--gaps] --answers answers.csv --stats stats.json "
    "[--chip CHIP] [--hse HZ|none]"
)
_SERVE_OPTIONS = (
    "[--image ops.bin@0x08040000] [--analyzer PORT] [--uart pty|tcp:PORT] [--probe PORT] [--start get|now] "
    "[--flash-acr 0xVALUE] [--count name=symbol+0x12]... [--count-window OP --windows windows.csv] "
    "[--instructions-while CRIT] [--clips D0=PA9,D1=open] [--chip CHIP] [--hse HZ|none]"
)
_DESK_OPTIONS = (
    "--folder DIR [fw.elf] [--image ops.bin@0x08040000] [--channels 8|16] "
    "[--bare] [--clips D0=PA9,D1=open] [--clock-error-ppm PPM] [--flash-acr 0xVALUE] "
    "[--name NAME] [--start now|capture] [--chip CHIP] [--hse HZ|none]"
)
_WORST_COUNT = "cut -d, -f4 windows.csv | sort -n | tail -n 1"
SIMULATOR = (
    Elsewhere("cargo build --release", "console/checks.py", '("cargo", "build", "--locked", "--release"'),
    Elsewhere("cargo test", "console/checks.py", '("cargo", "test", *_CHECKED)'),
    Elsewhere("cargo test --test all hostile", "console/checks.py", '("cargo", "test", *_CHECKED)'),
    Elsewhere(
        "cargo test --release --test all walk_by_place -- --nocapture",
        "simulator/tests/core/flash_time.rs",
        "fn walk_by_place()",
    ),
    Tried(
        "target/release/virtual-nucleo run fw.elf --image ops.bin@0x08040000 --until 1s --edges edges.csv "
        "--uart-log uart.txt",
        says=r"cycle,pin,level\n@BOOT,",
        then="head -n 1 edges.csv && head -n 1 uart.txt",
        folder="simulator",
    ),
    Tried(
        "target/release/virtual-nucleo serve fw.elf --image ops.bin@0x08040000",
        says=r'"analyzer":"127\.0\.0\.1:\d+"',
        folder="simulator",
    ),
    Tried(
        "sigrok-cli -d beaglelogic:conn=tcp-raw/127.0.0.1/PORT:logic_channels=8 "
        "-c samplerate=84m --samples 84000000 -O binary",
        says=r"^84000$",
        typed="sigrok-cli -d beaglelogic:conn=tcp-raw/127.0.0.1/PORT:logic_channels=8 "
        "-c samplerate=84m --samples 84000 -O binary | wc -c",
        why="a thousandth of the samples, counted",
    ),
    Tried("virtual-nucleo run --gaps", says=r"core: the packets that DWT and ITM send"),
    Tried(
        "virtual-nucleo run --gaps [--chip CHIP]",
        says=r"CAN1 at 0x40006400",
        typed="virtual-nucleo run --gaps --chip f407vg",
        why="a chip that the option may name",
    ),
    Tried(
        "virtual-nucleo run fw.elf --gaps",
        says=r'"gaps"',
        typed="virtual-nucleo run fw.elf --gaps --stats stats.json",
        why="with a file that says there was none",
        then="cat stats.json",
    ),
    Tried(
        "$run --count walk=heap_index_find+0x2e --count-window OP --windows windows.csv",
        says=r"^2[0-5]\d$",
        why="as many steps as there are free blocks: 256 in the end",
        then=_WORST_COUNT,
    ),
    Tried(
        "$run --count 'instructions=*' --count-window CRIT --windows windows.csv",
        says=r"^\d{4}$",
        then=_WORST_COUNT,
    ),
    Tried(
        "$run --stop-on 'pulse:CRIT>800' --trace-last 64",
        says=r"PA8 has been high for 80\d cycles",
        status=4,
    ),
    Tried(
        "$run --masks masks.csv --mask-stacks stacks.csv",
        says=r"^0,reset,0,0x0800[0-9a-f]{4},,0x00000000,0$",
        then="sed -n 2p masks.csv",
    ),
    Tried("$run --save-snapshot half.snapshot@1s", says=r"half\.snapshot", then="ls half.snapshot"),
    Tried(
        "virtual-nucleo run --from-snapshot half.snapshot --until 2s --edges rest.csv",
        says=r"^8[34]\d{6},P",
        why="its first edge comes when a second is over, by the measured clock some 84 million cycles",
        then="sed -n 2p rest.csv",
        after="$run --save-snapshot half.snapshot@1s",
    ),
    Tried(
        f"virtual-nucleo run fw.elf {_RUN_OPTIONS}",
        says=r"Usage: virtual-nucleo run",
        typed="virtual-nucleo run --help",
        why="a synopsis: the help must know its options",
    ),
    Tried(
        "virtual-nucleo run --from-snapshot FILE [fw.elf] "
        "[the options above but --image, --timing, --flash-acr, --chip, --hse]",
        says=r"Usage: virtual-nucleo run",
        typed="virtual-nucleo run --help",
        why="a synopsis: the help must know its options",
    ),
    Tried(
        f"virtual-nucleo desk {_DESK_OPTIONS}",
        says=r"Usage: virtual-nucleo desk",
        typed="virtual-nucleo desk --help",
        why="a synopsis: the help must know its options",
    ),
    Tried(
        f"virtual-nucleo latency fw.elf {_LATENCY_OPTIONS}",
        says=r"Usage: virtual-nucleo latency",
        typed="virtual-nucleo latency --help",
        why="a synopsis: the help must know its options",
    ),
    Tried(
        "virtual-nucleo capture",
        says=r"Usage: virtual-nucleo capture",
        typed="virtual-nucleo capture --help",
        why="a synopsis: the help must know its options",
    ),
    Tried(
        "virtual-nucleo capture fw.elf --samplerate HZ --samples N --edges edges.stream "
        "--uart-log uart.txt [--most-edges N] [the options of serve on board, counts and clips]",
        says=r"--most-edges",
        typed="virtual-nucleo capture --help",
        why="a synopsis: the help must know its options",
    ),
    Tried(
        f"virtual-nucleo serve fw.elf {_SERVE_OPTIONS}",
        says=r"Usage: virtual-nucleo serve",
        typed="virtual-nucleo serve --help",
        why="a synopsis: the help must know its options",
    ),
)

_HOSTILE = "simulator/tests/hostile.rs"
_NO_NIGHTLY = "needs a nightly compiler and cargo-fuzz; that test drives the same entries by a seeded mutator"
FUZZING = (
    Elsewhere("cargo install cargo-fuzz", _HOSTILE, "corpus", why=_NO_NIGHTLY),
    Elsewhere("mkdir -p /tmp/code", _HOSTILE, "corpus", why=_NO_NIGHTLY),
    Elsewhere(
        "cargo +nightly fuzz run code /tmp/code fuzz/corpus/code -- "
        "-max_total_time=300 -max_len=2048 -timeout=20",
        _HOSTILE,
        "corpus",
        why=_NO_NIGHTLY,
    ),
    Elsewhere("cargo +nightly fuzz tmin code FILE", _HOSTILE, "corpus", why=_NO_NIGHTLY),
)

FIRMWARE = (
    Tried(
        "cd firmware && cmake --preset nucleo -DTAILSCOPE_ALLOCATOR=tlsf && cmake --build --preset nucleo",
        says=r"build/firmware/nucleo/tailscope\.elf",
        then='ls "$OLDPWD/build/firmware/nucleo/tailscope.elf"',
    ),
    Tried(
        "arm-none-eabi-addr2line -e tailscope.elf",
        says=r"main\.c:\d+",
        typed="arm-none-eabi-nm fw.elf | sed -n 's/ T main$//p' | arm-none-eabi-addr2line -e fw.elf",
        why="with the address of main",
    ),
    Elsewhere(
        "cmake -S firmware/heap/tests -B build/heap-tests/<name> -G Ninja -DTAILSCOPE_ALLOCATOR=<name>",
        "console/checks.py",
        '("cmake", "-S", str(HEAP / "tests"), "-B", str(folder), "-G", "Ninja")',
    ),
    Elsewhere(
        "cmake --build build/heap-tests/<name> && ctest --test-dir build/heap-tests/<name>",
        "console/checks.py",
        '("ctest", "--test-dir", str(folder)',
    ),
    Elsewhere(
        "build/heap-tests/<name>-sanitized/fuzz_operations 100000 7",
        "firmware/heap/tests/CMakeLists.txt",
        "COMMAND fuzz_operations 600",
        why="fewer inputs there",
    ),
    Elsewhere("replay operations.bin", "tests/test_replay.py", "[str(replay), str(image)]"),
    Elsewhere(
        ".venv/bin/python -m firmware.heap.tests.probe_table",
        "firmware/heap/tests/test_heap.py",
        "probe_table import table",
        why="needs the host tests of all; that test makes the same table as they come",
    ),
)

PYTHON = (
    Tried(
        '.venv/bin/python -c " from scenarios import catalogue '
        "plan = catalogue.load('mem_frag', {'depth': 8}, stimulus='periodic:6007').compile() "
        'print(plan.operations)"',
        says=r"┌.*\n.*seq",
    ),
    Elsewhere(
        ".venv/bin/python -m studies.adversary.published",
        "studies/adversary/tests/test_published.py",
        "test_a_stored_winner_takes_as_long_as_the_page_says",
        why="takes ten minutes; the test runs what it stored",
    ),
    Tried(
        ".venv/bin/python -m dashboards.tests.picture build/dashboard.html docs/pictures/dashboard.png",
        says=r"docs/dashboard\.png",
        then="test -s docs/pictures/dashboard.png && ls docs/pictures/dashboard.png",
        after="./lab demo",
        tool="chromium",
    ),
    Elsewhere(
        ".venv/bin/python -m studies.tables.timing_report",
        "tests/test_timing_report.py",
        '"studies.tables.timing_report"',
    ),
    Elsewhere(
        ".venv/bin/python -m studies.tables.worst_cases",
        "tests/test_worst_cases.py",
        "worst_cycles(allocator, art)",
        why="takes ten seconds of a core; that test measures each cell of the table",
    ),
)

GATE_BASELINE = "./lab gate --baseline baselines/tlsf.toml --update --limit allocate=10us RUN"
CAMPAIGNS = (
    *(
        Elsewhere(command, "tests/test_campaigns.py", words, why="a page's matrix takes minutes")
        for command, words in {
            "./lab campaign matrix.toml": '"-m", "cli", "campaign", str(asked.path)',
            "./lab campaign matrix.toml --scheduler tcp://HOST:8786": "cluster.remote(there",
            "./lab campaign status FOLDER": '["status", "results", "clean"]',
            "./lab campaign results FOLDER": '["status", "results", "clean"]',
            "./lab campaign clean FOLDER": '["status", "results", "clean"]',
        }.items()
    ),
)

GATE = (
    Tried(GATE_BASELINE, says=r"mem_frag on tlsf, board virtual: new", then="test -s baselines/tlsf.toml"),
    Tried(
        "./lab gate --baseline baselines/tlsf.toml RUN",
        says=r"^As good as the baseline\. Runs: 1 as good\.$",
        after=GATE_BASELINE,
    ),
    Elsewhere(
        "./lab gate --baseline baselines/desk.toml --update RUN",
        "analysis/compare/gate/tests/test_gate.py",
        "def test_a_real_board_needs_three_repetitions",
        of_a_board=True,
    ),
    Elsewhere(
        "./lab gate --baseline baselines/desk.toml RUN",
        "analysis/compare/gate/tests/test_gate.py",
        "def test_twenty_noisy_repetitions_are_as_good",
        of_a_board=True,
    ),
)

SITE = (
    Elsewhere("./lab site", "tests/test_site.py", "site.write("),
    Elsewhere(
        ".venv/bin/python -m studies.tables.search_pictures",
        "tests/test_search_pictures.py",
        "panel(search(allocator))",
        why="needs the firmware of all; that test draws two again",
    ),
)

PRE_COMMIT = (
    Elsewhere(
        "pre-commit install",
        ".pre-commit-config.yaml",
        "entry: ./lab test style",
        why="is not among the project's tools; what it starts is a row above",
    ),
    Elsewhere(
        "pre-commit run --all-files",
        ".pre-commit-config.yaml",
        "entry: ./lab test style",
        why="is not among the project's tools; what it starts is a row above",
    ),
)

ROWS: tuple[Tried | Elsewhere, ...] = (
    *LAB,
    *MASKS,
    *BOARD,
    *DEBUGGING,
    *DECODERS,
    *IMPORTS,
    *OBSERVING,
    *SIMULATOR,
    *FUZZING,
    *FIRMWARE,
    *PYTHON,
    *GATE,
    *CAMPAIGNS,
    *SITE,
    *PRE_COMMIT,
)

SHOWN = {
    (
        "docs/how-to/campaigns.md",
        'scenarios  = ["mem_stress", "mem_frag"]   # names, or paths beside this file',
    ),
    ("docs/how-to/campaigns.md", "import polars as pl"),
    ("docs/how-to/campaigns.md", 'capture = "direct"      # "sigrok" when not given'),
    (
        "docs/how-to/campaigns.md",
        "Stopped. mem_stress on tlsf, run 6be4db0926d5: The direct capture is not what the real tools bring:",
    ),
    (
        "docs/how-to/campaigns.md",
        "PYTHONPATH=$PWD .venv/bin/dask scheduler",
    ),
    ("docs/how-to/campaigns.md", "export DASK_DISTRIBUTED__COMM__TLS__CA_FILE=ca.pem"),
    (
        "docs/reference/README.md",
        "scenarios     names, or paths that end in .toml and begin at the matrix; required",
    ),
    ("docs/reference/README.md", "runs.parquet       a row for each run, sorted by key"),
    ("docs/how-to/ci.md", "name: heap"),
    ("docs/how-to/ci.md", "heap:"),
    ("docs/how-to/ci.md", "mem_frag on my_heap, from outside, d8995a38, board virtual: worse"),
    ("docs/how-to/ci.md", "-650 depth 12: F204/98 (A161/70/2 F310/150)*3"),
    ("docs/reference/README.md", "KIND CYCLES[-MOST][/INSTRUCTIONS[/PROBES]][+HITS][~PULSE]"),
    ("docs/reference/README.md", "schema 1, exit_status, baseline, notes[]"),
    ("analysis/bounds/README.md", 'bounds_of(elf, "tlsf", "basepri", {})'),
    (
        "dashboards/README.md",
        'report.write_report([Path("runs/…"), …], Path("report.html"))    one HTML file that needs no other',
    ),
    ("dashboards/README.md", "report.html#/ramp?scenario=mem_frag&show=seglist,tlsf&pin=tlsf"),
    ("docs/how-to/analyzers.md", "fx2lafw:conn=1.12 - Saleae Logic with 8 channels: D0 D1 D2 D3 D4 D5 D6 D7"),
    ("docs/how-to/analyzers.md", "[boards.nucleo.analyzer]"),
    ("docs/reference/scenarios.md", "[stimulus]"),
    ("docs/reference/scenarios.md", "heap_bytes = 86_064     # above [parameters]: a multiple of 8, from 64"),
    ("docs/reference/scenarios.md", "from collections.abc import Iterator"),
    ("docs/reference/README.md", r"@<TYPE>,<field>,…*<CRC>\n"),
    ("docs/reference/README.md", "platform, heap_bytes"),
    ("docs/reference/README.md", "run, scenario, allocator, board, run_verdict"),
    ("docs/reference/README.md", "elf, options[], until"),
    ("docs/reference/README.md", "schema, elf"),
    ("docs/reference/README.md", "schema                        1"),
    ("docs/reference/README.md", r"@TA,<number>,<address>,<size>*<CRC>\n"),
    (
        "docs/how-to/traces.md",
        "#define TAILSCOPE_TRACE_HEADER_BYTES 8 /* of heap_2, heap_4, heap_5; 0 for heap_1 and heap_3 */",
    ),
    ("docs/how-to/traces.md", 'generator = "recorded"'),
    ("docs/how-to/traces.md", "sqlite3 :memory: 'pragma page_size=512; pragma cache_size=16;"),
    ("docs/reference/README.md", "schema, scenario, parameters{}, allocator, board, analyzer,"),
    (
        "docs/reference/README.md",
        '{"desk": "DIR", "control": "DIR/control", "uart": "/dev/ttyACM0", "terminal": "/dev/pts/3",',
    ),
    (
        "docs/reference/README.md",
        '{"analyzer": "127.0.0.1:41001", "uart": "/dev/pts/3" | "socket://127.0.0.1:41002"}',
    ),
    ("docs/how-to/observe.md", "[boards.mine.loader]"),
    ("docs/how-to/observe.md", "#define TAILSCOPE_CRIT TAILSCOPE_PIN('A', 8)"),
    ("docs/how-to/observe.md", "tailscope_pins_start();"),
    ("docs/how-to/observe.md", "-Wl,--wrap=vPortEnterCritical,--wrap=vPortExitCritical"),
    ("docs/reference/README.md", "samplerate_hz, total_samples, resolution_ns"),
    ("docs/reference/README.md", "schema, quantity"),
    ("docs/reference/README.md", "verdict, reasons[]            inconclusive"),
    ("docs/reference/README.md", "seed, runs[]"),
    (
        "docs/reference/README.md",
        "run, board, fault, due, verdict, exit_status, sentences[], folder, redecoded, wrong[]",
    ),
    ("docs/reference/README.md", "seed, seconds, stopped, runs, unaccounted, folder"),
    ("docs/reference/README.md", "allocator, trace, seed, operations"),
    ("docs/reference/README.md", "allocator, what, seed, lists, operations"),
    ("docs/reference/README.md", "allocator, outside {file, format, sha256}, holds, lists"),
    ("docs/reference/README.md", "schema                        1"),
    (
        "docs/tutorial/my-allocator.md",
        "/* First fit on a list in order of address. Free neighbours merge. */",
    ),
    (
        "docs/tutorial/my-allocator.md",
        "breaks the contract: a payload lies at region + 20, which is no multiple of 8.",
    ),
    ("docs/tutorial/my-allocator.md", 'promises = ["merges", "reuses_holes", "tells_usable"]'),
    ("docs/tutorial/my-allocator.md", '#include "plain.h"'),
    ("docs/tutorial/my-allocator.md", "[[search]]"),
    ("docs/reference/README.md", "table, place, part, row, column, allocator, unit, compared"),
    ("docs/reference/README.md", "seed, mutants, killed, harmless, survived"),
    (
        "firmware/heap/README.md",
        "facade.c          heap.h       lock, markers, statistics, the witness of the last operation",
    ),
    ("firmware/heap/README.md", "+-------+------+--------+------+-----------------------------+-------+---"),
}
"""Blocks of code without a command, by page and first line:
files, pictures, outputs, calls in Python.
"""
