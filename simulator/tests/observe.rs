//! Compares observed runs with the same run unobserved: counts between edges, conditions that end a
//! run, and the last instructions.

use crate::support;

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use support::{
    board_firmware, message_image, read_edges, run, scratch, stderr, stdout, text, CsvEdge,
};

const MET: Option<i32> = Some(4);
/// No condition was met.
const UNMET: i32 = 6;

/// A firmware with an image, and the edges and bytes of its first millisecond.
struct Plain {
    elf: PathBuf,
    image: String,
    edges: PathBuf,
    uart: PathBuf,
}

impl Plain {
    fn run(name: &str) -> Plain {
        let plain = Plain {
            elf: board_firmware(name, &[]),
            image: message_image(name, "under observation\n"),
            edges: scratch(&format!("{name}.csv")),
            uart: scratch(&format!("{name}.txt")),
        };
        assert!(plain
            .observed(&[], &plain.edges, &plain.uart)
            .status
            .success());
        plain
    }

    fn observed(&self, arguments: &[&str], edges: &Path, uart: &Path) -> Output {
        let fixed = ["--until", "1ms", "--image", &self.image];
        let files = ["--edges", text(edges), "--uart-log", text(uart)];
        run(&self.elf, &[&fixed[..], &files[..], arguments].concat())
    }

    fn edges_of(&self, pin: &str) -> Vec<CsvEdge> {
        let edges = read_edges(&self.edges).into_iter();
        edges.filter(|edge| edge.pin == pin).collect()
    }
}

#[test]
fn observation_changes_nothing() {
    let plain = Plain::run("observe_nothing");
    let (edges, uart) = (scratch("observed.csv"), scratch("observed.txt"));
    let windows = scratch("observed_windows.csv");
    let all = [
        "--trace-last=5",
        "--stop-on=pc:0x0807fff0",
        "--stop-on=fault",
        "--stop-on=pulse:PA8>100000",
        "--count=interrupts=on_tim2",
        "--count-window=CRIT",
        "--windows",
        text(&windows),
    ];
    for (arguments, status) in [(&all[..], UNMET), (&all[..1], 0), (&all[4..], 0)] {
        let output = plain.observed(arguments, &edges, &uart);
        assert_eq!(output.status.code(), Some(status), "{}", stderr(&output));
        assert!(fs::read(&edges).unwrap() == fs::read(&plain.edges).unwrap());
        assert!(fs::read(&uart).unwrap() == fs::read(&plain.uart).unwrap());
    }
}

#[test]
fn windows_are_the_pulses_of_the_pin() {
    let plain = Plain::run("observe_windows");
    let windows = scratch("observe_windows_table.csv");
    let arguments = [
        "--count=entries=on_tim2",
        "--count=again=on_tim2",
        "--count-window=STIM",
        "--windows",
        text(&windows),
    ];
    let (edges, uart) = (scratch("windows_edges.csv"), scratch("windows_uart.txt"));
    let output = plain.observed(&arguments, &edges, &uart);
    assert!(output.status.success(), "{}", stderr(&output));
    let table = fs::read_to_string(&windows).unwrap();
    let mut lines = table.lines();
    assert_eq!(
        lines.next(),
        Some("window,start_cycle,end_cycle,entries,again")
    );
    let pulses = plain.edges_of("PA0");
    let mut rows = 0;
    for (index, (line, pulse)) in lines.zip(pulses.chunks_exact(2)).enumerate() {
        // Each edge of STIM interrupts, so there is one entry in each pulse.
        assert_eq!(
            line,
            format!("{index},{},{},1,1", pulse[0].cycle, pulse[1].cycle)
        );
        rows += 1;
    }
    assert_eq!(rows, pulses.len() / 2);
    assert!(rows > 30);
}

#[test]
fn code_that_runs_from_the_alias_at_zero_is_counted() {
    let elf = board_firmware("observe_alias", &[]);
    let mut file = fs::read(&elf).unwrap();
    clear_flash_bit_of_vectors(&mut file);
    let aliased = scratch("observe_aliased.elf");
    fs::write(&aliased, file).unwrap();
    let count = |elf: &Path| {
        let output = run(elf, &["--until", "1ms", "--count", "entries=on_tim2"]);
        assert!(output.status.success(), "{}", stderr(&output));
        stdout(&output)
    };
    let counted = count(&elf);
    assert!(counted.starts_with("entries ") && counted != "entries 0\n");
    assert_eq!(count(&aliased), counted);
}

/// Makes the vectors of reset and TIM2 point to the alias of the flash at 0.
fn clear_flash_bit_of_vectors(file: &mut [u8]) {
    let word = |file: &[u8], at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap());
    let header = word(file, 28) as usize;
    let table = word(file, header + 4) as usize;
    for vector in [1, 16 + 28] {
        let at = table + 4 * vector;
        let aliased = word(file, at) & !0x0800_0000;
        file[at..at + 4].copy_from_slice(&aliased.to_le_bytes());
    }
}

#[test]
fn a_level_ends_the_run_behind_its_edge() {
    let plain = Plain::run("observe_level");
    let third = plain.edges_of("PA8")[0].cycle;
    let (edges, uart) = (scratch("level_edges.csv"), scratch("level_uart.txt"));
    let output = plain.observed(&["--stop-on", "pin:CRIT=1"], &edges, &uart);
    assert_eq!(output.status.code(), MET);
    assert!(stderr(&output).contains(&format!("PA8 went high at cycle {third}\n")));
    assert_eq!(read_edges(&edges).last().unwrap().cycle, third);
}

#[test]
fn a_pulse_ends_the_run_when_it_lasts_too_long() {
    let plain = Plain::run("observe_pulse");
    let pulses = plain.edges_of("PA0");
    let width = pulses[1].cycle - pulses[0].cycle;
    let (edges, uart) = (scratch("pulse_edges.csv"), scratch("pulse_uart.txt"));
    let stop = |longest: u64| {
        let condition = format!("pulse:PA0>{longest}");
        plain.observed(&["--stop-on", &condition], &edges, &uart)
    };
    assert_eq!(stop(width).status.code(), Some(UNMET));
    let output = stop(width - 1);
    assert_eq!(output.status.code(), MET);
    let said = format!("cycles, since cycle {}\n", pulses[0].cycle);
    assert!(stderr(&output).contains(&said), "{}", stderr(&output));
}

#[test]
fn a_fault_ends_the_run_with_the_instruction_that_made_it() {
    let elf = board_firmware("observe_fault", &["READ_NOTHING"]);
    let trace = scratch("observe_fault.jsonl");
    let arguments = [
        "--until",
        "1ms",
        "--stop-on",
        "fault",
        "--trace",
        text(&trace),
    ];
    let output = run(&elf, &arguments);
    assert_eq!(output.status.code(), MET);
    assert!(
        stderr(&output).contains("HardFault was taken"),
        "{}",
        stderr(&output)
    );
    let entries: Vec<Value> = fs::read_to_string(&trace)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(entries.len(), 64);
    assert_eq!(entries[63]["mode"], "HardFault");
    // LDR of the address 0x60000000, which earlier instructions have computed.
    assert_eq!(entries[62]["completed"], false);
    assert!(entries[62]["name"].as_str().unwrap().starts_with("LDR"));
    let registers = |entry: &Value| entry["registers"].to_string();
    assert!(entries[..62]
        .iter()
        .any(|entry| registers(entry).contains("0x60000000")));
}

#[test]
fn an_instruction_ends_the_run_before_it_is_executed() {
    let elf = board_firmware("observe_pc", &[]);
    let arguments = ["--until", "1ms", "--stop-on", "pc:on_tim2"];
    let counting = ["--count", "entries=on_tim2", "--trace-last", "3"];
    let output = run(&elf, &[&arguments[..], &counting[..]].concat());
    assert_eq!(output.status.code(), MET);
    let stdout = stdout(&output);
    let lines: Vec<&str> = stdout.lines().collect();
    assert!(stderr(&output).contains("on_tim2 (pc 0x0800"));
    // Two instructions, the exception that preempts them, and a counter that has not counted.
    assert_eq!(lines.len(), 4, "{stdout}");
    assert!(lines[2].ends_with("now in IRQ 28"), "{stdout}");
    assert_eq!(lines[3], "entries 0");
}

#[test]
fn unknown_places_and_forms_get_a_sentence() {
    let elf = board_firmware("observe_bad", &[]);
    let refused = |arguments: &[&str]| {
        let output = run(&elf, &[&["--until", "1ms"], arguments].concat());
        assert!(matches!(output.status.code(), Some(1 | 2)), "{arguments:?}");
        stderr(&output)
    };
    assert!(refused(&["--count", "n=on_tim3"]).contains("did you mean on_tim2?"));
    assert!(refused(&["--stop-on", "pc:on_timm2"]).contains("did you mean on_tim2?"));
    assert!(refused(&["--count", "n=0x0", "--count", "n=0x2"]).contains("two counts"));
    assert!(refused(&["--stop-on", "pin:PA77=1"]).contains("PA77"));
    assert!(refused(&["--trace-last", "0"]).contains("trace-last"));
    assert!(refused(&["--count-window", "OP"]).contains("--windows"));
    let many: Vec<String> = (0..200)
        .map(|n| format!("--count=n{n}={:#x}", 2 * n))
        .collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert!(refused(&many).contains("at most 127"));
}
