//! `virtual-nucleo run` with real firmware. The files must say what the firmware was written to do.

use crate::support;

use std::fs;
use support::{
    board_firmware, ended, json, message_image, read_edges, run, scratch, stderr, stdout, succeed,
    text, CsvEdge,
};

fn edges_of(edges: &[CsvEdge], pin: &str) -> Vec<CsvEdge> {
    edges
        .iter()
        .filter(|edge| edge.pin == pin)
        .cloned()
        .collect()
}

fn spacings(edges: &[CsvEdge]) -> Vec<u64> {
    edges
        .windows(2)
        .map(|pair| pair[1].cycle - pair[0].cycle)
        .collect()
}

#[test]
fn what_software_says_on_stimulus_ports_is_written_down() {
    let elf = support::firmware("itm.c", "itm", &[]);
    let stimuli = scratch("itm.csv");
    let output = run(
        &elf,
        &["--strict", "--until", "1ms", "--itm", text(&stimuli)],
    );
    assert!(output.status.success() && output.stderr.is_empty());
    let written = fs::read_to_string(&stimuli).unwrap();
    let rows: Vec<&str> = written
        .lines()
        .map(|line| line.split_once(',').unwrap().1)
        .collect();
    assert_eq!(
        rows,
        ["port,bytes,value", "0,1,111", "0,1,107", "1,4,123456"]
    );
}

#[test]
fn timer_pin_and_uart_do_what_the_firmware_says() {
    let elf = board_firmware("run", &[]);
    let (edges, uart, stats) = (scratch("run.csv"), scratch("run.txt"), scratch("run.json"));
    let image = message_image("run", "hello, board\n");
    let output = run(
        &elf,
        &[
            "--until",
            "2ms",
            "--edges",
            text(&edges),
            "--uart-log",
            text(&uart),
            "--stats",
            text(&stats),
            "--image",
            &image,
            "--count",
            "interrupts=on_tim2",
        ],
    );
    assert!(output.status.success() && output.stderr.is_empty() && output.stdout.is_empty());
    assert_eq!(fs::read_to_string(&uart).unwrap(), "hello, board\n");

    let edges = read_edges(&edges);
    assert!(edges.windows(2).all(|pair| pair[0].cycle <= pair[1].cycle));
    let stimulus = edges_of(&edges, "PA0");
    assert!(stimulus.len() > 150, "{} stimuli", stimulus.len());
    assert!(spacings(&stimulus).iter().all(|spacing| *spacing == 840));
    let alternates = stimulus
        .iter()
        .enumerate()
        .all(|(n, edge)| edge.level == (n % 2 == 0));
    assert!(alternates);

    // One pulse for each stimulus, before the next one. The end may cut off the last one.
    let answers = edges_of(&edges, "PA8");
    for (stimulus, pulse) in stimulus.iter().zip(answers.chunks_exact(2)) {
        assert!(pulse[0].level && !pulse[1].level);
        assert!(stimulus.cycle < pulse[0].cycle && pulse[1].cycle < stimulus.cycle + 840);
    }
    assert!(stimulus.len() - answers.len() / 2 <= 1);

    let stats = json(&stats);
    let executions = stats["counts"]["interrupts"].as_u64().unwrap() as usize;
    assert!(executions == answers.len() / 2 || executions == answers.len() / 2 + 1);
    for key in ["instructions", "cycles", "host_seconds", "mips"] {
        assert!(stats[key].as_f64().unwrap() > 0.0, "{key}");
    }
}

#[test]
fn two_runs_are_equal_to_the_byte() {
    let elf = board_firmware("repeat", &[]);
    let image = message_image("repeat", "again and again\n");
    let record = |name: &str| {
        let (edges, uart) = (
            scratch(&format!("{name}.csv")),
            scratch(&format!("{name}.txt")),
        );
        let arguments = ["--until", "5ms", "--image", &image];
        let files = ["--edges", text(&edges), "--uart-log", text(&uart)];
        assert!(run(&elf, &[&arguments[..], &files[..]].concat())
            .status
            .success());
        (fs::read(edges).unwrap(), fs::read(uart).unwrap())
    };
    let first = record("first");
    assert!(!first.0.is_empty() && !first.1.is_empty());
    assert!(first == record("second"));
}

#[test]
fn gaps_without_firmware_are_those_of_the_model() {
    let listed = stdout(&succeed(&["run", "--gaps"]));
    for line in [
        "SDIO at 0x40012c00: no register",
        "TIM2_SMCR: bits 0x0000fff7",
    ] {
        assert!(listed.lines().any(|listed| listed == line), "{line}");
    }
    assert_eq!(ended(&["run"]).status.code(), Some(2));
}

#[test]
fn a_flash_that_is_forced_changes_the_cycles_and_not_what_the_register_says() {
    let elf = board_firmware("forced", &[]);
    let edges = |name: &str, forced: &[&str]| {
        let path = scratch(name);
        let mut arguments = vec!["--until", "2ms", "--edges", text(&path)];
        arguments.extend(forced);
        let image = message_image("forced", "hello\n");
        arguments.extend(["--image", &image]);
        let output = run(&elf, &arguments);
        assert!(output.status.success(), "{output:?}");
        fs::read_to_string(&path).unwrap()
    };
    let plain = edges("plain.csv", &[]);
    let slow = edges("slow.csv", &["--flash-acr", "0xf"]);
    assert_ne!(plain, slow);
    assert_eq!(slow, edges("again.csv", &["--flash-acr", "0xf"]));
    for bad in ["0x800", "702", "0x1702"] {
        let refused = run(&elf, &["--until", "1ms", "--flash-acr", bad]);
        assert!(!refused.status.success());
        assert!(stderr(&refused).contains("is no FLASH_ACR"));
    }
}
