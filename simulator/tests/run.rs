//! `virtual-nucleo run` with real firmware. The files must say what the firmware was written to do.

use crate::support;

use support::{
    board_firmware, edges_of, firmware, json, message, read, read_edges, rows, run, stderr,
    succeed, CsvEdge,
};

fn spacings(edges: &[CsvEdge]) -> Vec<u64> {
    edges
        .windows(2)
        .map(|pair| pair[1].cycle - pair[0].cycle)
        .collect()
}

#[test]
fn what_software_says_on_stimulus_ports_is_written_down() {
    succeed(&format!(
        "{} --strict --until 1ms --itm itm.csv",
        firmware("itm.c", "")
    ));
    let rows = rows("itm.csv", "cycle,port,bytes,value");
    let written: Vec<String> = rows.iter().map(|row| row[1..].join(",")).collect();
    assert_eq!(written, ["0,1,111", "0,1,107", "1,4,123456"]);
}

#[test]
fn timer_pin_and_uart_do_what_the_firmware_says() {
    let (elf, image) = (board_firmware(""), message("hello, board\n"));
    let files = "--edges edges.csv --uart-log uart.txt --stats stats.json";
    let said = succeed(&format!(
        "{elf} {image} --until 2ms {files} --count interrupts=on_tim2"
    ));
    assert!(said.is_empty());
    assert_eq!(read("uart.txt"), "hello, board\n");

    let edges = read_edges("edges.csv");
    assert!(edges.windows(2).all(|pair| pair[0].cycle <= pair[1].cycle));
    let stimulus = edges_of("edges.csv", "PA0");
    assert!(stimulus.len() > 150, "{} stimuli", stimulus.len());
    assert!(spacings(&stimulus).iter().all(|spacing| *spacing == 840));
    let alternates = stimulus
        .iter()
        .enumerate()
        .all(|(n, edge)| edge.level == (n % 2 == 0));
    assert!(alternates);

    // One pulse for each stimulus, before the next one. The end may cut off the last one.
    let answers = edges_of("edges.csv", "PA8");
    for (stimulus, pulse) in stimulus.iter().zip(answers.chunks_exact(2)) {
        assert!(pulse[0].level && !pulse[1].level);
        assert!(stimulus.cycle < pulse[0].cycle && pulse[1].cycle < stimulus.cycle + 840);
    }
    assert!(stimulus.len() - answers.len() / 2 <= 1);

    let stats = json("stats.json");
    let executions = stats["counts"]["interrupts"].as_u64().unwrap() as usize;
    assert!(executions == answers.len() / 2 || executions == answers.len() / 2 + 1);
    for key in ["instructions", "cycles", "host_seconds", "mips"] {
        assert!(stats[key].as_f64().unwrap() > 0.0, "{key}");
    }
}

#[test]
fn two_runs_are_equal_to_the_byte() {
    let (elf, image) = (board_firmware(""), message("again and again\n"));
    let record = || {
        succeed(&format!(
            "{elf} {image} --until 5ms --edges edges.csv --uart-log uart.txt"
        ));
        (read("edges.csv"), read("uart.txt"))
    };
    let first = record();
    assert!(!first.0.is_empty() && !first.1.is_empty());
    assert!(first == record());
}

#[test]
fn gaps_without_firmware_are_those_of_the_model() {
    let listed = succeed("--gaps");
    for line in [
        "SDIO at 0x40012c00: no register",
        "TIM2_SMCR: bits 0x0000fff7",
    ] {
        assert!(listed.lines().any(|listed| listed == line), "{line}");
    }
    assert_eq!(run("").status.code(), Some(2));
}

#[test]
fn a_flash_that_is_forced_changes_the_cycles_and_not_what_the_register_says() {
    let (elf, image) = (board_firmware(""), message("hello\n"));
    let edges = |forced: &str| {
        let output = run(&format!(
            "{elf} {image} --until 2ms --edges edges.csv {forced}"
        ));
        assert!(output.status.success(), "{output:?}");
        read("edges.csv")
    };
    let slow = edges("--flash-acr 0xf");
    assert_ne!(edges(""), slow);
    assert_eq!(slow, edges("--flash-acr 0xf"));
    for bad in ["0x800", "702", "0x1702"] {
        let refused = run(&format!("{elf} --until 1ms --flash-acr {bad}"));
        assert!(!refused.status.success());
        assert!(stderr(&refused).contains("is no FLASH_ACR"));
    }
}
