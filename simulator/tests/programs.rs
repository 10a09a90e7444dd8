//! Programs that others wrote for chips of the line: what they call, where they fault, and how a run
//! tells. `tests/fixtures/program.c` says what each part does.

use crate::support;

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::Stdio;
use support::{firmware, json, run, scratch, stderr, stdout, succeed, text, virtual_nucleo};

fn program(name: &str, part: &str) -> PathBuf {
    firmware("program.c", name, &[part])
}

#[test]
fn calls_to_the_host_are_answered_and_the_exit_status_is_passed_on() {
    let stats = scratch("calls.json");
    let output = run(
        &program("calls", "CALLS"),
        &["--semihosting", "--stats", stats.to_str().unwrap()],
    );
    assert_eq!(output.status.code(), Some(7));
    // Nothing left of SYS_WRITE, a refused file and its errno 2, a terminal, four bytes left.
    assert_eq!(
        stdout(&output),
        "one\n00000000\nffffffff\n00000002\n00000001\n00000004\n!"
    );
    assert!(stderr(&output).starts_with("two\n"), "{}", stderr(&output));
    assert!(stderr(&output).ends_with("exited with status 7\n"));
    let stats = json(&stats);
    assert_eq!(stats["exit_status"], 7);
}

#[test]
fn without_semihosting_a_call_is_a_hard_fault() {
    let output = run(&program("uncalled", "CALLS"), &[]);
    assert_eq!(output.status.code(), Some(5));
    let said = stderr(&output);
    assert!(said.contains("in the handler of a HardFault"), "{said}");
    assert!(said.contains("run with --semihosting"), "{said}");
    assert!(said.contains("HFSR 0x80000000"), "{said}");
}

#[test]
fn a_program_that_ends_in_a_fault_says_which_and_where() {
    let elf = program("divide", "DIVIDE");
    // With and without an end: the handler loops for ever.
    for arguments in [&[][..], &["--until", "1ms"]] {
        let output = run(&elf, arguments);
        assert_eq!(output.status.code(), Some(5));
        let said = stderr(&output);
        // The UsageFault is not enabled, so it escalates (FORCED, bit 30). DIVBYZERO is bit 25.
        assert!(said.contains("in the handler of a HardFault"), "{said}");
        assert!(said.contains("a division by zero"), "{said}");
        assert!(said.contains("(divide+0x"), "{said}");
        assert!(said.contains("CFSR 0x02000000 HFSR 0x40000000"), "{said}");
    }
    let output = run(&elf, &["--stop-on", "fault"]);
    assert_eq!(output.status.code(), Some(4));
}

#[test]
fn a_core_that_locks_up_says_what_led_there() {
    let output = run(&program("lockup", "LOCK_UP"), &["--until", "1ms"]);
    assert_eq!(output.status.code(), Some(3));
    let said = stderr(&output);
    assert!(
        said.contains("locked up") && said.contains("a division by zero"),
        "{said}"
    );
}

#[test]
fn an_initial_sp_outside_the_sram_is_refused() {
    let elf = firmware("program.c", "outside", &["DIVIDE", "STACK=0x20018000"]);
    let output = run(&elf, &["--chip", "f401cc"]);
    assert_eq!(output.status.code(), Some(1));
    let said = stderr(&output);
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(
        said.contains("0x20018000") && said.contains("STM32F401CC") && said.contains("0x20010000"),
        "{said}"
    );
    for chip in ["stm32f401re", "f411re", "f407vg"] {
        assert_eq!(
            run(&elf, &["--chip", chip]).status.code(),
            Some(5),
            "{chip}"
        );
    }
}

#[test]
fn each_chip_tells_its_identity() {
    let elf = program("identity", "IDENTITY");
    // Device identifiers: RM0368 §23.6.1, RM0383 §23.6.1, RM0090 §38.6.1.
    for (chip, device, kib) in [
        ("stm32f401re", 0x433, 512),
        ("f401cc", 0x423, 256),
        ("F411RE", 0x431, 512),
        ("stm32f407vg", 0x413, 1024),
    ] {
        let output = run(&elf, &["--semihosting", "--chip", chip]);
        assert_eq!(
            stdout(&output),
            format!("{device:08x}\n{kib:08x}\n"),
            "{chip}"
        );
    }
}

#[test]
fn core_coupled_memory_is_on_the_chip_that_has_it() {
    let elf = program("coupled", "COUPLED");
    let output = run(&elf, &["--semihosting", "--chip", "f407vg"]);
    assert_eq!(stdout(&output), "12345678\n");
    let output = run(&elf, &["--semihosting"]);
    assert_eq!(output.status.code(), Some(5));
    assert!(
        stderr(&output).contains("IMPRECISERR"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn the_second_sram_takes_a_cycle_more_for_the_first_load_of_a_row() {
    // Measured on an STM32F407 (docs/reference/timing.md): a cycle for each row of loads, and none
    // for stores. One idle cycle and a store do not end a row; a load of the flash begins it.
    let cycles = |place: u32, chip: &str| -> Vec<u32> {
        let place = format!("PLACE={place:#x}");
        let elf = firmware("program.c", &place, &["TWO_SRAMS", &place]);
        let output = run(&elf, &["--semihosting", "--chip", chip]);
        let numbers = stdout(&output);
        let hex = |line| u32::from_str_radix(line, 16).unwrap();
        numbers.lines().map(hex).collect()
    };
    let first = cycles(0x2001_BFE0, "f407vg");
    let second = cycles(0x2001_C000, "f407vg");
    let more: Vec<u32> = (0..first.len()).map(|n| second[n] - first[n]).collect();
    assert_eq!(more, [1, 1, 2, 1, 0, 0, 1, 1, 1, 0]);
    assert_eq!(cycles(0x2001_C000, "f411re"), first, "it has one SRAM");
}

#[test]
fn a_crystal_starts_after_its_time_and_nothing_never_does() {
    let elf = program("crystal", "CRYSTAL");
    let output = run(&elf, &["--semihosting", "--hse", "8MHz"]);
    assert_eq!(output.status.code(), Some(0));
    // 2 ms at 16 MHz in reads of at most 16 cycles.
    let reads = u32::from_str_radix(stdout(&output).trim(), 16).unwrap();
    assert!((2_000..32_000).contains(&reads), "{reads}");
    let output = run(&elf, &["--semihosting", "--hse", "none"]);
    assert_eq!(output.status.code(), Some(1));
    // The Nucleo has a clock and no crystal.
    let output = run(&elf, &["--semihosting", "--strict"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(stderr(&output).contains("--hse"), "{}", stderr(&output));
    // Its amplifier passes the clock, all the same.
    let output = run(&elf, &["--semihosting"]);
    assert_eq!(
        (output.status.code(), stdout(&output)),
        (Some(0), "00000000\n".into())
    );
}

#[test]
fn bytes_for_a_uart_arrive_and_its_bytes_are_kept() {
    for (name, base) in [("usart1", "0x40011000"), ("usart2", "0x40004400")] {
        let elf = firmware("program.c", name, &[&format!("ECHO={base}")]);
        let (log, input) = (
            scratch(&format!("{name}.log")),
            scratch(&format!("{name}.in")),
        );
        fs::write(&input, "abc").unwrap();
        let log_text = log.to_str().unwrap();
        let arguments = ["--usart", name, "--uart-log", log_text, "--until", "1ms"];
        let file = ["--uart-input", input.to_str().unwrap()];
        assert!(run(&elf, &[&arguments[..], &file].concat())
            .status
            .success());
        assert_eq!(fs::read_to_string(&log).unwrap(), "abc");

        let mut child = virtual_nucleo()
            .arg("run")
            .arg(&elf)
            .args(arguments)
            .args(["--uart-input", "-"])
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(b"xyz").unwrap();
        assert!(child.wait().unwrap().success());
        assert_eq!(fs::read_to_string(&log).unwrap(), "xyz");
        // Bytes of another USART are not heard.
        let other = [
            "--usart",
            "usart6",
            "--uart-log",
            log_text,
            "--until",
            "1ms",
        ];
        assert!(run(&elf, &[&other[..], &file].concat()).status.success());
        assert_eq!(fs::read_to_string(&log).unwrap(), "");
    }
}

#[test]
fn a_condition_that_is_never_met_is_told() {
    let elf = firmware("program.c", "unmet", &["ECHO=0x40004400"]);
    let output = run(&elf, &["--until", "1ms", "--stop-on", "pin:PA8=1"]);
    assert_eq!(output.status.code(), Some(6));
    assert_eq!(stderr(&output).lines().count(), 2);
    assert!(stderr(&output).contains("polls for ever") && stderr(&output).contains("USART2_SR"));
    assert!(stderr(&output).contains("no condition of --stop-on was met"));
}

#[test]
fn registers_are_printed_at_the_end() {
    let output = run(&program("registers", "DIVIDE"), &["--registers"]);
    let printed = stdout(&output);
    assert!(
        printed.lines().any(|line| line == "cfsr 0x02000000"),
        "{printed}"
    );
    assert!(
        printed.lines().any(|line| line.starts_with("pc 0x0800")),
        "{printed}"
    );
}

/// The F401's table with its first chip alone, and changes, as a file.
fn own_chip(name: &str, changes: &[(&str, &str)]) -> PathBuf {
    let whole = include_str!("../crates/stm32/chips/stm32f401.toml");
    let parts: Vec<&str> = whole.split("[[chips]]").take(2).collect();
    let mut table = parts
        .join("[[chips]]")
        .replace("STM32F401RE", "STM32F401XX");
    for (from, to) in changes {
        assert!(table.contains(from), "{from}");
        table = table.replace(from, to);
    }
    let file = scratch(&format!("{name}.toml"));
    fs::write(&file, table).unwrap();
    file
}

#[test]
fn a_chip_may_be_a_table_from_outside() {
    let elf = program("own", "IDENTITY");
    let table = own_chip(
        "own",
        &[
            ("flash_kib = 512", "flash_kib = 384"),
            ("0x1001_6433", "0x1001_6421"),
        ],
    );
    let output = run(&elf, &["--semihosting", "--chip", text(&table)]);
    assert_eq!(stdout(&output), "00000421\n00000180\n");
    // A snapshot keeps it, without the file.
    let saved = scratch("own.snapshot");
    let at = format!("{}@cycles:1", text(&saved));
    let save = ["--save-snapshot", &at, "--until", "cycles:10"];
    let chip = ["--semihosting", "--chip", text(&table)];
    assert!(run(&elf, &[&chip[..], &save].concat()).status.success());
    fs::remove_file(&table).unwrap();
    let again = succeed(&["run", "--semihosting", "--from-snapshot", text(&saved)]);
    assert_eq!(again.stdout, output.stdout);
}

#[test]
fn a_wrong_table_of_a_chip_is_one_sentence() {
    let elf = program("wrong", "IDENTITY");
    for (from, to, told) in [
        (
            "sram_kib = 96",
            "sram_kib = 96000",
            "wrong.toml: chips: sram_kib = 96000 is not 1 to 128",
        ),
        ("family = \"F401\"", "family = F401", "wrong.toml:5: "),
    ] {
        let table = own_chip("wrong", &[(from, to)]);
        let output = run(&elf, &["--chip", text(&table)]);
        assert_eq!(output.status.code(), Some(2));
        let said = stderr(&output);
        assert!(said.contains(told) && !said.contains("panicked"), "{said}");
    }
    let output = run(&elf, &["--chip", "/dev/null.toml"]);
    assert_eq!(output.status.code(), Some(2));
}
