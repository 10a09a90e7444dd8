//! Programs that others wrote for chips of the line: what they call, where they fault, and how a run
//! tells. `tests/fixtures/program.c` says what each part does.

use crate::support;

use std::fs;
use std::io::Write;
use std::process::{Output, Stdio};
use support::{
    firmware, hexadecimal, json, read, run, scratch, stderr, stdout, succeed, virtual_nucleo,
};

/// Runs a part of tests/fixtures/program.c, which macros choose.
fn program(macros: &str, options: &str) -> Output {
    run(&format!("{} {options}", firmware("program.c", macros)))
}

/// The same, for a run that ends with a status and of which stderr has these words. Returns stderr.
fn ends(macros: &str, options: &str, status: i32, words: &[&str]) -> String {
    let output = program(macros, options);
    let said = stderr(&output);
    assert_eq!(
        output.status.code(),
        Some(status),
        "{macros} {options}: {said}"
    );
    for word in words {
        assert!(said.contains(word), "{macros} {options}: {said}");
    }
    said
}

#[test]
fn calls_to_the_host_are_answered_and_the_exit_status_is_passed_on() {
    let output = program("CALLS", "--semihosting --stats stats.json");
    assert_eq!(output.status.code(), Some(7));
    // Nothing left of SYS_WRITE, a refused file and its errno 2, a terminal, four bytes left.
    assert_eq!(
        stdout(&output),
        "one\n00000000\nffffffff\n00000002\n00000001\n00000004\n!"
    );
    assert!(stderr(&output).starts_with("two\n"), "{}", stderr(&output));
    assert!(stderr(&output).ends_with("exited with status 7\n"));
    assert_eq!(json("stats.json")["exit_status"], 7);
}

#[test]
fn without_semihosting_a_call_is_a_hard_fault() {
    let words = [
        "in the handler of a HardFault",
        "run with --semihosting",
        "HFSR 0x80000000",
    ];
    ends("CALLS", "", 5, &words);
}

#[test]
fn a_program_that_ends_in_a_fault_says_which_and_where() {
    // The UsageFault is not enabled, so it escalates (FORCED, bit 30). DIVBYZERO is bit 25.
    let words = [
        "in the handler of a HardFault",
        "a division by zero",
        "(divide+0x",
        "CFSR 0x02000000 HFSR 0x40000000",
    ];
    // With and without an end: the handler loops for ever.
    ends("DIVIDE", "", 5, &words);
    ends("DIVIDE", "--until 1ms", 5, &words);
    ends("DIVIDE", "--stop-on fault", 4, &[]);
}

#[test]
fn a_core_that_locks_up_says_what_led_there() {
    ends(
        "LOCK_UP",
        "--until 1ms",
        3,
        &["locked up", "a division by zero"],
    );
}

#[test]
fn an_initial_sp_outside_the_sram_is_refused() {
    let outside = "DIVIDE STACK=0x20018000";
    let words = ["0x20018000", "STM32F401CC", "0x20010000"];
    let said = ends(outside, "--chip f401cc", 1, &words);
    assert_eq!(said.lines().count(), 1, "{said}");
    for chip in ["stm32f401re", "f411re", "f407vg"] {
        ends(outside, &format!("--chip {chip}"), 5, &[]);
    }
}

#[test]
fn each_chip_tells_its_identity() {
    // Device identifiers: RM0368 §23.6.1, RM0383 §23.6.1, RM0090 §38.6.1.
    for (chip, device, kib) in [
        ("stm32f401re", 0x433, 512),
        ("f401cc", 0x423, 256),
        ("F411RE", 0x431, 512),
        ("stm32f407vg", 0x413, 1024),
    ] {
        let output = program("IDENTITY", &format!("--semihosting --chip {chip}"));
        assert_eq!(
            stdout(&output),
            format!("{device:08x}\n{kib:08x}\n"),
            "{chip}"
        );
    }
}

#[test]
fn core_coupled_memory_is_on_the_chip_that_has_it() {
    let output = program("COUPLED", "--semihosting --chip f407vg");
    assert_eq!(stdout(&output), "12345678\n");
    ends("COUPLED", "--semihosting", 5, &["IMPRECISERR"]);
}

#[test]
fn the_second_sram_takes_a_cycle_more_for_the_first_load_of_a_row() {
    // Measured on an STM32F407 (docs/reference/timing.md): a cycle for each row of loads, and none
    // for stores. One idle cycle and a store do not end a row; a load of the flash begins it.
    let cycles = |place: u32, chip: &str| -> Vec<u32> {
        let macros = format!("TWO_SRAMS PLACE={place:#x}");
        let output = program(&macros, &format!("--semihosting --chip {chip}"));
        stdout(&output).lines().map(hexadecimal).collect()
    };
    let first = cycles(0x2001_BFE0, "f407vg");
    let second = cycles(0x2001_C000, "f407vg");
    let more: Vec<u32> = (0..first.len()).map(|n| second[n] - first[n]).collect();
    assert_eq!(more, [1, 1, 2, 1, 0, 0, 1, 1, 1, 0]);
    assert_eq!(cycles(0x2001_C000, "f411re"), first, "it has one SRAM");
}

#[test]
fn a_crystal_starts_after_its_time_and_nothing_never_does() {
    let output = program("CRYSTAL", "--semihosting --hse 8MHz");
    assert_eq!(output.status.code(), Some(0));
    // 2 ms at 16 MHz in reads of at most 16 cycles.
    let reads = hexadecimal(&stdout(&output));
    assert!((2_000..32_000).contains(&reads), "{reads}");
    ends("CRYSTAL", "--semihosting --hse none", 1, &[]);
    // The Nucleo has a clock and no crystal.
    ends("CRYSTAL", "--semihosting --strict", 3, &["--hse"]);
    // Its amplifier passes the clock, all the same.
    let output = program("CRYSTAL", "--semihosting");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(stdout(&output), "00000000\n");
}

#[test]
fn bytes_for_a_uart_arrive_and_its_bytes_are_kept() {
    for (name, base) in [("usart1", "0x40011000"), ("usart2", "0x40004400")] {
        let elf = firmware("program.c", &format!("ECHO={base}"));
        fs::write(scratch("input"), "abc").unwrap();
        let line =
            |usart: &str| format!("{elf} --usart {usart} --uart-log log --until 1ms --uart-input");
        assert!(run(&format!("{} input", line(name))).status.success());
        assert_eq!(read("log"), "abc");

        let mut command = virtual_nucleo(&format!("run {} -", line(name)));
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(b"xyz").unwrap();
        assert!(child.wait().unwrap().success());
        assert_eq!(read("log"), "xyz");
        // Bytes of another USART are not heard.
        assert!(run(&format!("{} input", line("usart6"))).status.success());
        assert_eq!(read("log"), "");
    }
}

#[test]
fn a_condition_that_is_never_met_is_told() {
    let output = program("ECHO=0x40004400", "--until 1ms --stop-on pin:PA8=1");
    assert_eq!(output.status.code(), Some(6));
    assert_eq!(stderr(&output).lines().count(), 2);
    assert!(stderr(&output).contains("polls for ever") && stderr(&output).contains("USART2_SR"));
    assert!(stderr(&output).contains("no condition of --stop-on was met"));
}

#[test]
fn registers_are_printed_at_the_end() {
    let printed = stdout(&program("DIVIDE", "--registers"));
    let has = |holds: fn(&str) -> bool| assert!(printed.lines().any(holds), "{printed}");
    has(|line| line == "cfsr 0x02000000");
    has(|line| line.starts_with("pc 0x0800"));
}

/// Writes the F401's table with its first chip alone, and changes, to `own.toml`.
fn write_own_chip(changes: &[(&str, &str)]) {
    let whole = include_str!("../crates/stm32/chips/stm32f401.toml");
    let parts: Vec<&str> = whole.split("[[chips]]").take(2).collect();
    let mut table = parts
        .join("[[chips]]")
        .replace("STM32F401RE", "STM32F401XX");
    for (from, to) in changes {
        assert!(table.contains(from), "{from}");
        table = table.replace(from, to);
    }
    fs::write(scratch("own.toml"), table).unwrap();
}

#[test]
fn a_chip_may_be_a_table_from_outside() {
    write_own_chip(&[
        ("flash_kib = 512", "flash_kib = 384"),
        ("0x1001_6433", "0x1001_6421"),
    ]);
    let output = program("IDENTITY", "--semihosting --chip own.toml");
    assert_eq!(stdout(&output), "00000421\n00000180\n");
    // A snapshot keeps it, without the file.
    let save = "--semihosting --chip own.toml --save-snapshot saved@cycles:1 --until cycles:10";
    assert!(program("IDENTITY", save).status.success());
    fs::remove_file(scratch("own.toml")).unwrap();
    let again = succeed("--semihosting --from-snapshot saved");
    assert_eq!(again, stdout(&output));
}

#[test]
fn a_wrong_table_of_a_chip_is_one_sentence() {
    for (from, to, told) in [
        (
            "sram_kib = 96",
            "sram_kib = 96000",
            "own.toml: chips: sram_kib = 96000 is not 1 to 128",
        ),
        ("family = \"F401\"", "family = F401", "own.toml:5: "),
    ] {
        write_own_chip(&[(from, to)]);
        ends("IDENTITY", "--chip own.toml", 2, &[told]);
    }
    ends("IDENTITY", "--chip /dev/null.toml", 2, &[]);
}
