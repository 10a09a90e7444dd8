//! What the chip takes without a word: noted and gone on with, or stopped at with `--strict`. The
//! values that registers read afterwards are the manual's (RM0368), the places those of the source
//! (`tests/fixtures/program.c`).

use crate::support;

use serde_json::{json, Value};
use std::fs;
use std::process::Output;
use support::{board_firmware, firmware, read, run, scratch, stderr, stdout, succeed};

/// tests/fixtures/program.c with these macros runs for 50 ms: its output and its statistics, `null`
/// where it left none.
fn told(macros: &str, options: &str) -> (Output, Value) {
    let elf = firmware("program.c", macros);
    let _ = fs::remove_file(scratch("stats.json"));
    let output = run(&format!("{elf} --until 50ms --stats stats.json {options}"));
    let stats = fs::read_to_string(scratch("stats.json")).unwrap_or("null".into());
    (output, serde_json::from_str(&stats).unwrap())
}

/// A program that does one odd thing goes on with a note of it, and `--strict` stops it there.
fn noted(part: &str, kind: &str, what: &str, reads: u32) -> Value {
    let odd = format!("ODD={part}");
    let (output, stats) = told(&odd, "--semihosting");
    assert_eq!(output.status.code(), Some(0), "{part}: {output:?}");
    assert_eq!(stdout(&output), format!("{reads:08x}\n"), "{part}");
    let notes = stats["notes"].as_array().unwrap();
    assert_eq!(notes.len(), 1, "{part}: {notes:?}");
    let note = notes[0].clone();
    assert_eq!((&note["kind"], &note["what"]), (&kind.into(), &what.into()));
    let function = note["function"].as_str().unwrap();
    assert!(["odd", "part", "reset"].contains(&function.split('+').next().unwrap()));
    let pc = note["pc"].as_str().unwrap();
    assert!(stderr(&output).contains(&format!("at pc {pc} in {function} in cycle")));

    let (strict, stats) = told(&odd, "--semihosting --strict");
    assert_eq!(strict.status.code(), Some(3), "{part}: {strict:?}");
    assert!(
        stderr(&strict).contains(what) && stderr(&strict).contains(pc),
        "{}",
        stderr(&strict)
    );
    assert_eq!(stderr(&strict).lines().count(), 1);
    assert_eq!(stats["notes"], json!([]));
    note
}

#[test]
fn reserved_bits_are_ignored() {
    // RM0368 6.3.9: GPIOA to GPIOE, GPIOH, CRC, DMA1 and DMA2.
    let what = "RCC_AHB1ENR (bits 0x0000ef60)";
    let note = noted(
        "RESERVED",
        "reserved_bits",
        what,
        0x1F & 0x61 | 0x1000 & 0xFF61,
    );
    assert_eq!(note["differs"], false);
    assert_eq!((&note["reads"], &note["writes"]), (&0.into(), &1.into()));
    let note = noted("TWICE", "reserved_bits", what, 0x1001);
    assert_eq!(note["writes"], 5);
}

#[test]
fn bits_that_are_not_modelled_have_no_effect_and_the_others_do() {
    let what = "RCC_CFGR (bits 0x07000000)";
    let note = noted("BITS", "unmodelled_bits", what, 4 << 10);
    assert_eq!(note["differs"], true);
}

#[test]
fn registers_that_are_not_modelled_read_as_after_reset() {
    let (output, stats) = told("ODD=WITHOUT_REGISTER", "--semihosting");
    assert_eq!(output.stdout, b"00000000\n");
    let note = &stats["notes"][0];
    assert_eq!(note["kind"], "unmodelled_register");
    assert_eq!((&note["reads"], &note["writes"]), (&1.into(), &1.into()));
}

#[test]
fn an_absent_peripheral_may_be_written() {
    noted("ABSENT", "absent_peripheral", "SDIO_POWER", 0);
}

#[test]
fn what_is_not_modelled_stops_and_gaps_goes_past_it() {
    for (part, what, kind) in [
        (
            "ABSENT_READ",
            "SDIO_POWER at 0x40012c00 is not modelled",
            "absent_peripheral",
        ),
        (
            "TRACE_PORT_READ",
            "TPIU_FFSR at 0xe0040300 is not modelled",
            "absent_peripheral",
        ),
        ("TRC", "CCxS: capture from TRC", "unmodelled_mode"),
        (
            "REMAP",
            "FPB+0x8 at 0xe0002008 is not modelled",
            "unmodelled_mode",
        ),
    ] {
        let odd = format!("ODD={part}");
        for options in ["--semihosting", "--semihosting --strict"] {
            let (output, _) = told(&odd, options);
            assert_eq!(output.status.code(), Some(3), "{part}");
            let said = stderr(&output);
            assert!(said.contains(what) && said.contains("--gaps"), "{said}");
        }
        let (output, stats) = told(&odd, "--semihosting --gaps");
        assert_eq!(output.status.code(), Some(0), "{part}");
        assert_eq!(stdout(&output), "00000000\n", "{part}");
        let note = &stats["notes"][0];
        assert_eq!(note["kind"], kind);
        assert!(kind == "unmodelled_mode" || note["reads"] == 1, "{note}");
        assert!(stderr(&output).contains("this run is not the STM32F401RE's"));
    }
}

#[test]
fn a_peripheral_without_a_clock_reads_zero_and_is_one_note() {
    // GPIOB_MODER is 0x280 after reset (8.4.1), but nothing answers.
    let what = "GPIOB_MODER (its clock is off in RCC)";
    let note = noted("OFF", "clock_off", what, 0);
    assert_eq!((&note["reads"], &note["writes"]), (&1.into(), &2.into()));
    assert_eq!(note["differs"], false);
}

#[test]
fn settings_that_the_manual_does_not_allow_are_taken() {
    // 5.4.1: the register reads what was written.
    let note = noted(
        "SCALE",
        "setting",
        "PWR_CR (VOS is a reserved value)",
        0xC000,
    );
    assert_eq!(note.get("lasted_cycles"), None);
    // 6.3.1: HSION, HSIRDY, HSITRIM 16, HSEON, HSERDY: the clock at OSC_IN is there.
    let what = "RCC_CR (HSEON without HSEBYP: the board feeds OSC_IN with a clock and has no crystal; --hse names one)";
    noted("SOURCE", "setting", what, 0x0003_0083);
    // 6.3.3: SW and SWS say PLL, PPRE1 divides by two.
    let note = noted("FAST", "setting", FAST, 2 | 2 << 2 | 4 << 10);
    // Up to the next write of RCC_CFGR: a few instructions later, on a bus without waits.
    let lasted = note["lasted_cycles"].as_u64().unwrap();
    assert!((2..40).contains(&lasted), "{lasted}");
}

#[test]
fn a_clock_that_stays_too_fast_has_no_end() {
    let note = noted("STAYS", "setting", FAST, 2 | 2 << 2);
    assert_eq!(note.get("lasted_cycles"), None);
}

const FAST: &str = "RCC_CFGR (PCLK1 above 42 MHz: PPRE1 divides too little)";

#[test]
fn a_lock_that_the_core_has_not_is_ignored() {
    // TRM table 10-1 has no DWT_LAR. CYCCNTENA is set all the same.
    let note = noted("LOCK", "reserved_bits", "DWT_LAR", 1);
    assert_eq!(note["differs"], false);
    assert_eq!(note["address"], "0xe0001fb0");
    assert_eq!((&note["reads"], &note["writes"]), (&0.into(), &1.into()));
}

#[test]
fn the_trace_port_may_be_set_up() {
    let note = noted("TRACE_PORT", "absent_peripheral", "TPIU_SPPR", 5);
    assert_eq!((&note["reads"], &note["writes"]), (&0.into(), &2.into()));
}

#[test]
fn packets_of_the_dwt_are_not_sent_and_its_counter_counts() {
    let what = "DWT_CTRL (bits 0x00010000: DWT's packets)";
    noted("PACKETS", "unmodelled_bits", what, 1);
}

#[test]
fn a_program_that_does_nothing_odd_is_the_same_with_all_manners() {
    let elf = board_firmware("");
    let outcome = |option: &str| {
        succeed(&format!(
            "{elf} --until 5ms --edges edges.csv --stats stats.json {option}"
        ));
        let stats = support::json("stats.json");
        assert_eq!(stats["notes"], json!([]));
        (
            read("edges.csv"),
            stats["cycles"].clone(),
            stats["instructions"].clone(),
        )
    };
    let polite = outcome("");
    assert!(polite == outcome("--strict") && polite == outcome("--gaps"));
}

#[test]
fn a_note_costs_no_time() {
    // The same stores, once to reserved bits and once to others that change nothing.
    let cycles = |bits: &str| {
        let (_, stats) = told(&format!("ODD=TWICE ODD_BITS={bits}"), "--semihosting");
        let notes = stats["notes"].as_array().unwrap().len();
        (stats["cycles"].clone(), notes)
    };
    let (plain, none) = cycles("0x00001001");
    let (noted, one) = cycles("0x0000FF61");
    assert_eq!((none, one), (0, 1));
    assert_eq!(plain, noted);
}

/// The registers of the fault in which the program ended.
fn fault_of_jump(address: &str) -> String {
    let (output, _) = told(&format!("JUMP={address}"), "");
    assert_eq!(output.status.code(), Some(5), "{output:?}");
    stderr(&output)
}

#[test]
fn a_jump_to_where_no_code_is_takes_the_fault_that_a_core_takes() {
    // DDI 0403E, B3.2.15: IBUSERR is bit 8, IACCVIOL bit 0, UNDEFINSTR bit 16; all escalate.
    for nothing in ["0x10000000", "0x20020000", "0x08100000"] {
        let said = fault_of_jump(nothing);
        assert!(said.contains("CFSR 0x00000100"), "{nothing}: {said}");
    }
    for never in ["0x40023800", "0xA0000000", "0xE000ED00"] {
        let said = fault_of_jump(never);
        assert!(said.contains("CFSR 0x00000001"), "{never}: {said}");
    }
    let erased = fault_of_jump("0x08060000");
    assert!(erased.contains("CFSR 0x00010000"), "{erased}");
    assert!(
        erased.contains("note: the instruction 0xffffffff at 0x08060000"),
        "{erased}"
    );
    let (output, _) = told("JUMP=0x08060000", "--strict");
    assert_eq!(output.status.code(), Some(3));
    assert!(stderr(&output).contains("instruction 0xffffffff is undefined"));
}

#[test]
fn zeros_are_code_up_to_where_the_memory_ends() {
    // MOVS R0, R0 from behind the stack to the end of 96 KiB; then nothing answers.
    let said = fault_of_jump("0x20008000");
    assert!(said.contains("CFSR 0x00000100"), "{said}");
    assert!(said.contains("0x20018000"), "{said}");
}

#[test]
fn a_program_that_polls_for_ever_says_for_what() {
    let (output, stats) = told("POLLS=LOCKED", "");
    assert_eq!(output.status.code(), Some(0));
    let found = &stats["standstill"];
    assert_eq!(found["kind"], "polls");
    assert_eq!(found["register"], "RCC_CR");
    assert_eq!(found["address"], "0x40023800");
    assert_eq!(found["value"], "0x00000083");
    assert_eq!(found["mask"], "0x02000000");
    assert_eq!(found["for_ever"], true);
    assert!(found["function"].as_str().is_some());
    let said = stderr(&output);
    assert!(
        said.contains("polls for ever") && said.contains("RCC_CR"),
        "{said}"
    );
}

#[test]
fn a_poll_that_interrupts_do_not_end_is_told_and_no_more_than_is_known() {
    let (_, stats) = told("POLLS=FLAG", "");
    let found = &stats["standstill"];
    assert_eq!(
        (&found["kind"], &found["for_ever"]),
        (&"polls".into(), &false.into())
    );
    assert_eq!(found["register"], Value::Null);
    // Any bit of the flag would end the loop.
    assert_eq!(found["mask"], "0xffffffff");
    assert!(found["sentence"]
        .as_str()
        .unwrap()
        .contains("within 100 ms after the end"));
}

#[test]
fn a_loop_that_ends_or_waits_for_what_comes_is_no_standstill() {
    for part in ["POLLS=COUNTED", "POLLS=TICKED"] {
        let (output, stats) = told(part, "");
        assert_eq!(output.status.code(), Some(0));
        assert_eq!(stats["standstill"], Value::Null, "{part}");
    }
}

#[test]
fn a_program_that_sleeps_for_ever_says_so() {
    let (output, stats) = told("SLEEPS=0", "");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(stats["standstill"]["kind"], "sleeps");
    assert!(stderr(&output).contains("it has enabled no interrupt that could wake it"));
    let (output, stats) = told("SLEEPS=38", "");
    assert_eq!(stats["standstill"]["enabled"], json!([54]));
    assert!(stderr(&output).contains("(38) none can come without something from outside"));
}
