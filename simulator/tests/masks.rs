//! `--masks` and `--mask-stacks` on whole boards: lengths against CYCCNT as the program reads it,
//! stacks against the calls in its source, and the run against the same run without a log.

use crate::support;

use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use support::{board_firmware, firmware, json, message_image, scratch, succeed, text};

fn run(arguments: &[&str]) {
    succeed(&[&["run", "--strict"], arguments].concat());
}

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

fn hexadecimal(text: &str) -> u32 {
    u32::from_str_radix(text.strip_prefix("0x").unwrap(), 16).unwrap()
}

fn row(line: &str) -> Row {
    let fields: Vec<&str> = line.split(',').collect();
    let [cycle, what, value, pc, began, task, stack] = fields[..] else {
        panic!("{line}");
    };
    let given = |field: &str| (!field.is_empty()).then(|| field.to_string());
    Row {
        cycle: cycle.parse().unwrap(),
        what: what.into(),
        value: value.parse().unwrap(),
        pc: hexadecimal(pc),
        began: given(began).map(|began| began.parse().unwrap()),
        task: given(task).map(|task| hexadecimal(&task)),
        stack: given(stack).map(|stack| stack.parse().unwrap()),
    }
}

fn read_masks(path: &Path) -> Vec<Row> {
    let table = fs::read_to_string(path).unwrap();
    let mut lines = table.lines();
    let header = "cycle,what,value,pc,began,task,stack";
    assert_eq!(lines.next(), Some(header));
    lines.map(row).collect()
}

fn read_stacks(path: &Path) -> BTreeMap<u32, Vec<u32>> {
    let table = fs::read_to_string(path).unwrap();
    let mut lines = table.lines();
    assert_eq!(lines.next(), Some("stack,depth,pc"));
    let mut stacks: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for line in lines {
        let fields: Vec<&str> = line.split(',').collect();
        let stack = stacks.entry(fields[0].parse().unwrap()).or_default();
        assert_eq!(stack.len().to_string(), fields[1], "{line}");
        stack.push(hexadecimal(fields[2]));
    }
    stacks
}

/// The function of each address, as the toolchain knows it.
fn functions(elf: &Path, stack: &[u32]) -> Vec<String> {
    let places = stack.iter().enumerate();
    let places = places.map(|(depth, pc)| format!("{:#x}", pc - u32::from(depth > 0)));
    let output = Command::new("arm-none-eabi-addr2line")
        .args(["-f", "-e", text(elf)])
        .args(places)
        .output()
        .unwrap();
    let lines = String::from_utf8(output.stdout).unwrap();
    lines.lines().step_by(2).map(str::to_string).collect()
}

/// Where the program has its variables, as the toolchain knows them, in the words of the options.
fn kernel(elf: &Path) -> [String; 2] {
    let output = Command::new("arm-none-eabi-nm").arg(elf).output().unwrap();
    let lines = String::from_utf8(output.stdout).unwrap();
    let address = |name: &str| {
        let line = lines.lines().find(|line| line.ends_with(name)).unwrap();
        format!("0x{}", &line[..8])
    };
    [
        format!("--task-word={}", address(" pxCurrentTCB")),
        format!("--scheduler-value={}:4", address(" uxSchedulerSuspended")),
    ]
}

/// What tests/fixtures/masks.c did.
struct Logged {
    elf: PathBuf,
    rows: Vec<Row>,
    stacks: BTreeMap<u32, Vec<u32>>,
    uart: String,
}

impl Logged {
    fn run(name: &str, macros: &[&str]) -> Logged {
        let elf = firmware("masks.c", name, macros);
        let [masks, stacks, uart] =
            ["masks.csv", "stacks.csv", "txt"].map(|end| scratch(&format!("{name}.{end}")));
        let [task, scheduler] = kernel(&elf);
        let files = [
            "--masks",
            text(&masks),
            "--mask-stacks",
            text(&stacks),
            &task,
            &scheduler,
        ];
        run(&[&[text(&elf), "--uart-log", text(&uart)], &files[..]].concat());
        Logged {
            elf,
            rows: read_masks(&masks),
            stacks: read_stacks(&stacks),
            uart: fs::read_to_string(&uart).unwrap(),
        }
    }

    fn of(&self, what: &str) -> Vec<&Row> {
        self.rows.iter().filter(|row| row.what == what).collect()
    }

    /// A number that the program sent.
    fn told(&self, name: &str) -> u64 {
        let line = self.uart.lines().find_map(|line| line.strip_prefix(name));
        u64::from_str_radix(line.unwrap().trim(), 16).unwrap()
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
    let logged = Logged::run("masks-lengths", &[]);
    for what in ["primask", "faultmask", "basepri"] {
        let section = &logged.of(what)[..2];
        assert_eq!(
            section[1].cycle - section[0].cycle,
            logged.told(what),
            "{what}"
        );
        assert_eq!(section[0].value, if what == "basepri" { 0x50 } else { 1 });
        assert_eq!(section[1].value, 0);
    }
}

#[test]
fn stacks_are_the_calls_of_the_source() {
    let logged = Logged::run("masks-stacks", &[]);
    for (what, function) in [
        ("primask", "by_primask"),
        ("faultmask", "by_faultmask"),
        ("basepri", "by_basepri"),
        ("scheduler", "suspend"),
    ] {
        for row in &logged.of(what)[..2] {
            assert_eq!(
                logged.stack(row),
                format!("{function} level_2 level_1 test reset")
            );
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
    let logged = Logged::run("masks-frames", &[]);
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
    let logged = Logged::run("masks-reset", &["RESET_ONCE"]);
    let resets = logged.of("reset");
    assert_eq!(resets.len(), 2);
    assert_eq!(resets[0].pc, resets[1].pc);
    assert_eq!((resets[0].cycle, resets[0].task), (0, Some(0)));
    assert_eq!(resets[1].task, Some(0x2000_1234), "SRAM keeps its contents");
    let after: Vec<&str> = logged
        .rows
        .iter()
        .skip_while(|row| row.cycle <= resets[1].cycle)
        .map(|row| row.what.as_str())
        .collect();
    let before: Vec<&str> = logged.rows[1..]
        .iter()
        .take_while(|row| row.cycle < resets[1].cycle)
        .map(|row| row.what.as_str())
        .collect();
    assert_eq!(after[..before.len()], before, "it all happens again");
}

/// What a run leaves, but for the host's time.
fn outcome(name: &str, arguments: &[&str]) -> (Vec<u8>, Vec<u8>, Value) {
    let [edges, uart, stats] =
        ["csv", "uart", "json"].map(|end| scratch(&format!("{name}-outcome.{end}")));
    let files = [
        "--edges",
        text(&edges),
        "--uart-log",
        text(&uart),
        "--stats",
        text(&stats),
    ];
    run(&[arguments, &files[..]].concat());
    let mut stats = json(&stats);
    for of_the_host in ["host_seconds", "mips"] {
        stats.as_object_mut().unwrap().remove(of_the_host).unwrap();
    }
    (fs::read(edges).unwrap(), fs::read(uart).unwrap(), stats)
}

#[test]
fn a_log_costs_the_program_nothing() {
    let masks = scratch("masks-free.csv");
    let stacks = scratch("masks-free-stacks.csv");
    let log = ["--masks", text(&masks), "--mask-stacks", text(&stacks)];
    let board = board_firmware("masks-free", &[]);
    let image = message_image("masks-free", "as if nobody looked\n");
    let own = firmware("masks.c", "masks-free-own", &[]);
    for (name, arguments) in [
        (
            "masks-free-board",
            &[text(&board), "--image", &image, "--until", "3ms"][..],
        ),
        (
            "masks-free-ideal",
            &[
                text(&board),
                "--image",
                &image,
                "--until",
                "3ms",
                "--timing",
                "ideal",
            ],
        ),
        ("masks-free-own", &[text(&own)]),
    ] {
        let plain = outcome(name, arguments);
        assert!(
            plain == outcome(name, &[arguments, &log].concat()),
            "{name}"
        );
        assert!(read_masks(&masks).len() > 10, "{name}");
        let traced = ["--trace-last", "1", "--trace", "/dev/null"];
        let before = fs::read(&masks).unwrap();
        assert!(plain.0 == outcome(name, &[arguments, &log, &traced].concat()).0);
        assert!(before == fs::read(&masks).unwrap(), "{name}: step by step");
    }
}

#[test]
fn a_stall_of_the_flash_is_as_long_as_the_program_measures_it() {
    let elf = firmware("flash.c", "flash", &[]);
    let [masks, uart] = ["flash.csv", "flash.txt"].map(scratch);
    let files = ["--masks", text(&masks), "--uart-log", text(&uart)];
    run(&[&[text(&elf)], &files[..]].concat());
    let rows = read_masks(&masks);
    let mut stalls: Vec<(u64, u64)> = Vec::new();
    let flash = rows.iter().filter(|row| row.what == "flash");
    for pair in flash.collect::<Vec<_>>().chunks(2) {
        let [begin, end] = pair else {
            panic!("a stall without an end")
        };
        assert_eq!((begin.value, end.value), (1, 0));
        match stalls.last_mut() {
            Some(last) if last.1 == begin.cycle => last.1 = end.cycle,
            _ => stalls.push((begin.cycle, end.cycle)),
        }
    }
    let longest = stalls.iter().map(|(begin, end)| end - begin).max().unwrap();
    // CYCCNT around the erasure, with the store that starts it and the reads.
    let shown = fs::read_to_string(&uart).unwrap();
    let measured = shown.lines().find_map(|line| line.strip_prefix("stalled "));
    let measured = u64::from_str_radix(measured.unwrap(), 16).unwrap();
    assert!(
        (measured - 40..=measured).contains(&longest),
        "{longest} of {measured}"
    );
}

#[test]
fn a_log_from_a_snapshot_is_the_rest_of_the_whole_log() {
    let elf = board_firmware("masks-snapshot", &[]);
    let image = message_image("masks-snapshot", "half\n");
    let [whole, rest, snapshot] = ["whole.csv", "rest.csv", "snapshot"]
        .map(|name| scratch(&format!("masks-snapshot-{name}")));
    let save = format!("{}@1ms", text(&snapshot));
    let board = [text(&elf), "--image", &image, "--until", "2ms", "--masks"];
    run(&[&board[..], &[text(&whole), "--save-snapshot", &save]].concat());
    let from = [
        "--from-snapshot",
        text(&snapshot),
        text(&elf),
        "--until",
        "2ms",
    ];
    run(&[&from[..], &["--masks", text(&rest)]].concat());
    let (whole, rest) = (read_masks(&whole), read_masks(&rest));
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
    let elf = firmware("masks.c", "masks-stripped", &[]);
    let stripped = scratch("masks-stripped.bare.elf");
    let strip = Command::new("arm-none-eabi-objcopy")
        .args(["--strip-all", text(&elf), text(&stripped)])
        .status();
    assert!(strip.unwrap().success());
    let [masks, stacks] = ["masks-stripped.csv", "masks-stripped-stacks.csv"].map(scratch);
    run(&[
        text(&stripped),
        "--masks",
        text(&masks),
        "--mask-stacks",
        text(&stacks),
    ]);
    let rows = read_masks(&masks);
    assert!(rows
        .iter()
        .all(|row| row.task.is_none() && row.what != "scheduler"));
    assert!(rows.iter().any(|row| row.what == "basepri"));
    assert!(read_stacks(&stacks).values().all(|stack| stack.len() == 1));
}
