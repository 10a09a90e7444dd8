//! Compares observed runs with the same run unobserved: counts between edges, conditions that end a
//! run, and the last instructions.

use crate::support;

use serde_json::Value;
use std::fs;
use std::process::Output;
use support::{
    board_firmware, edges_of, json_lines, message, read, read_edges, rows, run, scratch, stderr,
    stdout,
};

const MET: Option<i32> = Some(4);
/// No condition was met.
const UNMET: Option<i32> = Some(6);

/// A firmware with an image, and the edges and bytes of its first millisecond: `plain.csv` and
/// `plain.txt`.
struct Plain {
    line: String,
}

impl Plain {
    fn run() -> Plain {
        let (elf, image) = (board_firmware(""), message("under observation\n"));
        let line = format!("{elf} {image} --until 1ms");
        let output = run(&format!("{line} --edges plain.csv --uart-log plain.txt"));
        assert!(output.status.success());
        Plain { line }
    }

    /// Runs again, to `edges.csv` and `uart.txt`.
    fn observed(&self, options: &str) -> Output {
        run(&format!(
            "{} --edges edges.csv --uart-log uart.txt {options}",
            self.line
        ))
    }
}

#[test]
fn observation_changes_nothing() {
    let plain = Plain::run();
    let stops = "--stop-on=pc:0x0807fff0 --stop-on=fault --stop-on=pulse:PA8>100000";
    let counts = "--count=interrupts=on_tim2 --count-window=CRIT --windows windows.csv";
    for (options, status) in [
        (format!("--trace-last=5 {stops} {counts}"), UNMET),
        ("--trace-last=5".into(), Some(0)),
        (counts.into(), Some(0)),
    ] {
        let output = plain.observed(&options);
        assert_eq!(output.status.code(), status, "{}", stderr(&output));
        assert!(read("edges.csv") == read("plain.csv"));
        assert!(read("uart.txt") == read("plain.txt"));
    }
}

#[test]
fn windows_are_the_pulses_of_the_pin() {
    let plain = Plain::run();
    let counts = "--count=entries=on_tim2 --count=again=on_tim2";
    let output = plain.observed(&format!(
        "{counts} --count-window=STIM --windows windows.csv"
    ));
    assert!(output.status.success(), "{}", stderr(&output));
    let windows = rows("windows.csv", "window,start_cycle,end_cycle,entries,again");
    let pulses = edges_of("plain.csv", "PA0");
    for (index, (row, pulse)) in windows.iter().zip(pulses.chunks_exact(2)).enumerate() {
        // Each edge of STIM interrupts, so there is one entry in each pulse.
        let expected = format!("{index},{},{},1,1", pulse[0].cycle, pulse[1].cycle);
        assert_eq!(row.join(","), expected);
    }
    assert_eq!(windows.len(), pulses.len() / 2);
    assert!(windows.len() > 30);
}

#[test]
fn code_that_runs_from_the_alias_at_zero_is_counted() {
    let elf = board_firmware("");
    let mut file = fs::read(scratch(&elf)).unwrap();
    clear_flash_bit_of_vectors(&mut file);
    fs::write(scratch("aliased.elf"), file).unwrap();
    let count = |elf: &str| {
        let output = run(&format!("{elf} --until 1ms --count entries=on_tim2"));
        assert!(output.status.success(), "{}", stderr(&output));
        stdout(&output)
    };
    let counted = count(&elf);
    assert!(counted.starts_with("entries ") && counted != "entries 0\n");
    assert_eq!(count("aliased.elf"), counted);
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
    let plain = Plain::run();
    let first = edges_of("plain.csv", "PA8")[0].cycle;
    let output = plain.observed("--stop-on pin:CRIT=1");
    assert_eq!(output.status.code(), MET);
    assert!(stderr(&output).contains(&format!("PA8 went high at cycle {first}\n")));
    assert_eq!(read_edges("edges.csv").last().unwrap().cycle, first);
}

#[test]
fn a_pulse_ends_the_run_when_it_lasts_too_long() {
    let plain = Plain::run();
    let pulses = edges_of("plain.csv", "PA0");
    let width = pulses[1].cycle - pulses[0].cycle;
    let stop = |longest: u64| plain.observed(&format!("--stop-on pulse:PA0>{longest}"));
    assert_eq!(stop(width).status.code(), UNMET);
    let output = stop(width - 1);
    assert_eq!(output.status.code(), MET);
    let said = format!("cycles, since cycle {}\n", pulses[0].cycle);
    assert!(stderr(&output).contains(&said), "{}", stderr(&output));
}

#[test]
fn a_fault_ends_the_run_with_the_instruction_that_made_it() {
    let elf = board_firmware("READ_NOTHING");
    let output = run(&format!(
        "{elf} --until 1ms --stop-on fault --trace trace.jsonl"
    ));
    assert_eq!(output.status.code(), MET);
    assert!(
        stderr(&output).contains("HardFault was taken"),
        "{}",
        stderr(&output)
    );
    let entries = json_lines("trace.jsonl");
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
    let stop = "--until 1ms --stop-on pc:on_tim2 --trace-last 3 --count entries=on_tim2";
    let output = run(&format!("{} {stop}", board_firmware("")));
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
    let elf = board_firmware("");
    let many: Vec<String> = (0..200)
        .map(|n| format!("--count n{n}={:#x}", 2 * n))
        .collect();
    for (options, said) in [
        ("--count n=on_tim3", "did you mean on_tim2?"),
        ("--stop-on pc:on_timm2", "did you mean on_tim2?"),
        ("--count n=0x0 --count n=0x2", "two counts"),
        ("--stop-on pin:PA77=1", "PA77"),
        ("--trace-last 0", "trace-last"),
        ("--count-window OP", "--windows"),
        (&many.join(" "), "at most 127"),
    ] {
        let output = run(&format!("{elf} --until 1ms {options}"));
        assert!(matches!(output.status.code(), Some(1 | 2)), "{options}");
        assert!(
            stderr(&output).contains(said),
            "{options}: {}",
            stderr(&output)
        );
    }
}
