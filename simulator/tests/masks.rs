//! `--masks` and `--mask-stacks` on whole boards: lengths against CYCCNT as the program reads it,
//! stacks against the calls in its source, and the run against the same run without a log.

use crate::support;

use std::collections::BTreeMap;
use std::process::Command;
use support::{board_firmware, firmware, hexadecimal, json, message, read, scratch, sent, succeed};

/// A row of `--masks`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Row {
    cycle: u64,
    what: String,
    value: u32,
    pc: u32,
    began: Option<u64>,
    task: Option<u32>,
    stack: Option<u32>,
}

fn address(cell: &str) -> u32 {
    hexadecimal(cell.strip_prefix("0x").unwrap())
}

fn row(cells: Vec<String>) -> Row {
    let [cycle, what, value, pc, began, task, stack] = &cells[..] else {
        panic!("{cells:?}");
    };
    Row {
        cycle: cycle.parse().unwrap(),
        what: what.clone(),
        value: value.parse().unwrap(),
        pc: address(pc),
        began: (!began.is_empty()).then(|| began.parse().unwrap()),
        task: (!task.is_empty()).then(|| address(task)),
        stack: (!stack.is_empty()).then(|| stack.parse().unwrap()),
    }
}

fn read_masks(name: &str) -> Vec<Row> {
    let rows = support::rows(name, "cycle,what,value,pc,began,task,stack");
    rows.into_iter().map(row).collect()
}

fn read_stacks(name: &str) -> BTreeMap<u32, Vec<u32>> {
    let mut stacks: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for cells in support::rows(name, "stack,depth,pc") {
        let stack = stacks.entry(cells[0].parse().unwrap()).or_default();
        assert_eq!(stack.len().to_string(), cells[1], "{cells:?}");
        stack.push(address(&cells[2]));
    }
    stacks
}

/// What a tool of the compiler prints of a file.
fn shown(tool: &str, arguments: &str, elf: &str) -> String {
    let mut command = Command::new(format!("arm-none-eabi-{tool}"));
    command.args(arguments.split_whitespace()).arg(scratch(elf));
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    support::stdout(&output)
}

/// The function of each address, as the toolchain knows it.
fn functions(elf: &str, stack: &[u32]) -> Vec<String> {
    let places = stack.iter().enumerate();
    let places = places.map(|(depth, pc)| format!("{:#x}", pc - u32::from(depth > 0)));
    let output = Command::new("arm-none-eabi-addr2line")
        .args(["-f", "-e"])
        .arg(scratch(elf))
        .args(places)
        .output()
        .unwrap();
    let lines = String::from_utf8(output.stdout).unwrap();
    lines.lines().step_by(2).map(str::to_string).collect()
}

/// Where the program has its variables, as the toolchain knows them, in the words of the options.
fn kernel(elf: &str) -> String {
    let symbols = shown("nm", "", elf);
    let address = |name: &str| {
        let line = symbols.lines().find(|line| line.ends_with(name)).unwrap();
        line[..8].to_owned()
    };
    let (task, scheduler) = (address(" pxCurrentTCB"), address(" uxSchedulerSuspended"));
    format!("--task-word=0x{task} --scheduler-value=0x{scheduler}:4")
}

/// What tests/fixtures/masks.c did.
struct Logged {
    elf: String,
    rows: Vec<Row>,
    stacks: BTreeMap<u32, Vec<u32>>,
}

impl Logged {
    fn run(macros: &str) -> Logged {
        let elf = firmware("masks.c", macros);
        let files = "--uart-log uart.txt --masks masks.csv --mask-stacks stacks.csv";
        succeed(&format!("--strict {elf} {files} {}", kernel(&elf)));
        Logged {
            elf,
            rows: read_masks("masks.csv"),
            stacks: read_stacks("stacks.csv"),
        }
    }

    fn of(&self, what: &str) -> Vec<&Row> {
        self.rows.iter().filter(|row| row.what == what).collect()
    }

    /// Its functions, innermost first.
    fn stack(&self, row: &Row) -> String {
        let stack = &self.stacks[&row.stack.unwrap()];
        assert_eq!(stack[0], row.pc);
        functions(&self.elf, stack).join(" ")
    }
}

#[test]
fn sections_are_as_long_as_the_program_measures_them() {
    let logged = Logged::run("");
    for (what, value) in [("primask", 1), ("faultmask", 1), ("basepri", 0x50)] {
        let [begin, end] = logged.of(what)[..2] else {
            panic!("{what}")
        };
        assert_eq!(end.cycle - begin.cycle, sent("uart.txt", what), "{what}");
        assert_eq!((begin.value, end.value), (value, 0));
    }
}

#[test]
fn stacks_are_the_calls_of_the_source() {
    let logged = Logged::run("");
    for (what, function) in [
        ("primask", "by_primask"),
        ("faultmask", "by_faultmask"),
        ("basepri", "by_basepri"),
        ("scheduler", "suspend"),
    ] {
        for row in &logged.of(what)[..2] {
            let stack = format!("{function} level_2 level_1 test reset");
            assert_eq!(logged.stack(row), stack);
            assert_eq!(row.task, Some(0x2000_1234));
        }
    }
    assert_eq!(logged.stack(&logged.rows[0]), "reset");
}

/// The interrupted code, innermost first, of each of the four interrupts.
const INTERRUPTED: [&str; 4] = [
    "pend pend_each test reset",
    "pend pend_with_floats pend_each test reset",
    "pend pend_each pend_from_a_process test reset",
    "pend pend_with_floats pend_each pend_from_a_process test reset",
];

#[test]
fn stacks_go_on_behind_every_kind_of_frame() {
    let logged = Logged::run("");
    let modes = logged.of("exception");
    assert_eq!(modes.len(), 8);
    for (pair, interrupted) in modes.chunks(2).zip(INTERRUPTED) {
        assert_eq!([pair[0].value, pair[1].value], [16 + 6, 0]);
        assert_eq!(logged.stack(pair[0]), interrupted);
        assert_eq!(logged.stack(pair[1]), format!("on_exti0 {interrupted}"));
        assert_eq!(pair[0].cycle - pair[0].began.unwrap(), 12);
    }
    let masks = &logged.of("primask")[2..10];
    for (pair, interrupted) in masks.chunks(2).zip(INTERRUPTED) {
        for row in pair {
            let stack = format!("quiet handler_body on_exti0 {interrupted}");
            assert_eq!(logged.stack(row), stack);
        }
    }
}

#[test]
fn a_reset_is_told_and_the_log_goes_on() {
    let logged = Logged::run("RESET_ONCE");
    let resets = logged.of("reset");
    assert_eq!(resets.len(), 2);
    assert_eq!(resets[0].pc, resets[1].pc);
    assert_eq!((resets[0].cycle, resets[0].task), (0, Some(0)));
    assert_eq!(resets[1].task, Some(0x2000_1234), "SRAM keeps its contents");
    let (before, after): (Vec<&Row>, Vec<&Row>) = logged
        .rows
        .iter()
        .partition(|row| row.cycle < resets[1].cycle);
    let again = after.iter().map(|row| &row.what);
    assert!(
        again.zip(&before).all(|(what, row)| *what == row.what),
        "it all happens again"
    );
    assert!(after.len() >= before.len());
}

#[test]
fn a_log_costs_the_program_nothing() {
    let (board, own) = (board_firmware(""), firmware("masks.c", ""));
    let image = message("as if nobody looked\n");
    // What a run leaves, but for the host's time.
    let outcome = |line: &str| {
        succeed(&format!(
            "--strict {line} --edges edges.csv --uart-log uart.txt --stats stats.json"
        ));
        let mut stats = json("stats.json");
        for of_the_host in ["host_seconds", "mips"] {
            stats.as_object_mut().unwrap().remove(of_the_host).unwrap();
        }
        (read("edges.csv"), read("uart.txt"), stats)
    };
    for line in [
        format!("{board} {image} --until 3ms"),
        format!("{board} {image} --until 3ms --timing ideal"),
        own,
    ] {
        let logged = format!("{line} --masks masks.csv --mask-stacks stacks.csv");
        let plain = outcome(&line);
        assert!(plain == outcome(&logged), "{line}");
        assert!(read_masks("masks.csv").len() > 10, "{line}");
        let before = read("masks.csv");
        assert!(plain.0 == outcome(&format!("{logged} --trace-last 1 --trace /dev/null")).0);
        assert!(before == read("masks.csv"), "{line}: step by step");
    }
}

#[test]
fn a_log_from_a_snapshot_is_the_rest_of_the_whole_log() {
    let (elf, image) = (board_firmware(""), message("half\n"));
    succeed(&format!(
        "--strict {elf} {image} --until 2ms --masks whole.csv --save-snapshot half@1ms"
    ));
    succeed(&format!(
        "--strict --from-snapshot half {elf} --until 2ms --masks rest.csv"
    ));
    let (whole, rest) = (read_masks("whole.csv"), read_masks("rest.csv"));
    let begins = rest[0].cycle;
    assert_eq!(rest[0].what, "reset");
    let later = |rows: &[Row]| -> Vec<Row> {
        let later = rows.iter().filter(|row| row.cycle > begins);
        later.cloned().collect()
    };
    assert_eq!(later(&rest), later(&whole));
    assert!(later(&rest).len() > 100);
    let enabled = rest.iter().find(|row| row.what == "enabled").unwrap();
    assert_eq!((enabled.cycle, enabled.value), (begins, 2 * (16 + 28) + 1));
}

#[test]
fn what_the_file_does_not_tell_is_left_out() {
    let elf = firmware("masks.c", "");
    shown("strip", "--strip-all", &elf);
    succeed(&format!(
        "--strict {elf} --masks masks.csv --mask-stacks stacks.csv"
    ));
    let rows = read_masks("masks.csv");
    assert!(rows
        .iter()
        .all(|row| row.task.is_none() && row.what != "scheduler"));
    assert!(rows.iter().any(|row| row.what == "basepri"));
    assert!(read_stacks("stacks.csv")
        .values()
        .all(|stack| stack.len() == 1));
}
