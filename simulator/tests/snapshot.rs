//! Compares a run that was saved and restored with one that was not. Every byte of the machine must
//! be equal.

use crate::support;

use cortex_m::Timing;
use machine::snapshot::{Snapshot, SnapshotError};
use machine::{Limit, Machine};
use stm32::edges::Edge;
use stm32::memory::Memory;
use support::{board_firmware, firmware, message, read, run, stderr, succeed};

/// The message is sent by about 1.3 ms. Then come interrupts, bytes that arrive, and sleep.
const END_CYCLE: u64 = 400_000;
const RECEIVED_CYCLE: u64 = 250_000;

fn machine() -> Machine {
    let elf = board_firmware("");
    support::machine(&elf, Timing::Nucleo, b"what was saved goes on\0")
}

/// What a machine did, and its final state.
#[derive(Default, PartialEq)]
struct Record {
    edges: Vec<Edge>,
    sent: Vec<u8>,
    machine: Vec<u8>,
}

/// Runs to a cycle. Three bytes arrive at their time.
fn run_to(machine: &mut Machine, cycle: u64, record: &mut Record) {
    if (machine.cycles()..cycle).contains(&RECEIVED_CYCLE) {
        advance(machine, RECEIVED_CYCLE);
        machine.receive(b"abc");
    }
    advance(machine, cycle);
    record.edges.extend(machine.take_edges());
    record.sent.extend(machine.take_transmitted());
}

fn advance(machine: &mut Machine, cycle: u64) {
    while machine.cycles() < cycle {
        machine.run_slice(Limit::Cycle(cycle), u64::MAX).unwrap();
    }
}

/// Runs to the end.
fn finished(mut machine: Machine, mut record: Record) -> Record {
    run_to(&mut machine, END_CYCLE, &mut record);
    record.machine = Snapshot::of(&machine).to_bytes();
    record
}

/// Cycles of a fixed pseudo-random sequence (Knuth's 64-bit LCG), before and after the bytes
/// arrive.
fn instants(count: usize) -> Vec<u64> {
    let mut state = 7u64;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % (RECEIVED_CYCLE - 1)
    };
    (0..count).map(|_| next()).collect()
}

/// Each has other register tables, also of what the others have and it has not.
#[test]
fn a_machine_of_every_chip_is_saved_and_restored() {
    for chip in stm32::chip::chips() {
        let mut memory = Memory::of(chip);
        let vectors = [0x2000_0400u32, 0x0800_0101].map(u32::to_le_bytes).concat();
        memory.load(0x0800_0000, &vectors).unwrap();
        let saved = Snapshot::of(&Machine::new(memory, Timing::Nucleo).unwrap()).to_bytes();
        let restored = Snapshot::from_bytes(&saved).unwrap();
        assert_eq!(restored.to_bytes(), saved, "{}", chip.name);
    }
}

#[test]
fn a_restored_run_continues_to_the_byte() {
    let expected = finished(machine(), Record::default());
    assert!(expected.edges.len() > 500);
    assert_eq!(expected.sent, b"what was saved goes onbcd");
    for instant in instants(60) {
        let mut record = Record::default();
        let mut saved = machine();
        run_to(&mut saved, instant, &mut record);
        let bytes = Snapshot::of(&saved).to_bytes();
        drop(saved);
        let restored = Snapshot::from_bytes(&bytes).unwrap().fork();
        assert_eq!(Snapshot::of(&restored).to_bytes(), bytes);
        let record = finished(restored, record);
        assert!(record == expected, "saved at cycle {instant}");
    }
}

/// Covers every cycle of the loops' iterations and of their timer's prescaler.
const POLLING_CYCLES: std::ops::Range<u64> = 10_000..10_080;

/// The straight run skips iterations of a busy wait. A run from an earlier snapshot skips others,
/// or none.
#[test]
fn iterations_that_are_skipped_leave_the_bytes_of_those_that_are_executed() {
    for macros in ["", "POLL_TIMER"] {
        let elf = firmware("polls.c", macros);
        let reset = Snapshot::of(&support::machine(&elf, Timing::Nucleo, b""));
        let at = |start: &Snapshot, cycle: u64| {
            let mut machine = start.fork();
            advance(&mut machine, cycle);
            machine
        };
        for cycle in POLLING_CYCLES {
            let straight = at(&reset, cycle);
            assert!(straight.core().skipped_instructions() > 100, "{macros}");
            let straight = Snapshot::of(&straight).to_bytes();
            for before_cycles in [3, 17, 500] {
                let earlier = Snapshot::of(&at(&reset, cycle - before_cycles)).to_bytes();
                let earlier = Snapshot::from_bytes(&earlier).unwrap();
                assert!(
                    Snapshot::of(&at(&earlier, cycle)).to_bytes() == straight,
                    "{macros}: at cycle {cycle}, and {before_cycles} cycles before"
                );
            }
        }
    }
}

#[test]
fn forks_do_not_touch_each_other() {
    let mut origin = machine();
    run_to(&mut origin, 100_000, &mut Record::default());
    let snapshot = Snapshot::of(&origin);
    let continued = || finished(snapshot.fork(), Record::default());
    let first = continued();
    assert!(first == continued());
    run_to(&mut origin, 200_000, &mut Record::default());
    assert!(first == continued());
}

#[test]
fn a_damaged_file_is_refused() {
    let good = Snapshot::of(&machine()).to_bytes();
    let refusal = |bytes: &[u8]| Snapshot::from_bytes(bytes).err();
    assert_eq!(refusal(&good), None);
    assert_eq!(refusal(b""), Some(SnapshotError::NotASnapshot));
    assert_eq!(
        refusal(b"\x7FELF and more"),
        Some(SnapshotError::NotASnapshot)
    );
    for end in (0..good.len()).step_by(4_093) {
        assert!(refusal(&good[..end]).is_some(), "cut at {end}");
    }
    for place in (0..64).chain((64..good.len()).step_by(9_973)) {
        let mut bad = good.clone();
        bad[place] ^= 0x10;
        assert!(refusal(&bad).is_some(), "changed at {place}");
    }
    let mut newer = good.clone();
    newer[8] += 1;
    let version = newer[8].into();
    assert_eq!(refusal(&newer), Some(SnapshotError::Version(version)));
    let mut other_build = good.clone();
    other_build[12] = b'?';
    assert_eq!(refusal(&other_build), Some(SnapshotError::OtherBuild));
    let mut damaged = good.clone();
    damaged[1_000] ^= 1;
    assert_eq!(refusal(&damaged), Some(SnapshotError::Checksum));
    let longer = [&good[..], b"!"].concat();
    assert_eq!(refusal(&longer), Some(SnapshotError::Length));
}

#[test]
fn the_commands_save_and_go_on() {
    let (elf, image) = (board_firmware(""), message("before and after\n"));
    let recorded = |line: &str| {
        succeed(&format!("{line} --edges edges.csv --uart-log uart.txt"));
        (read("edges.csv"), read("uart.txt"))
    };
    let whole = recorded(&format!("{elf} {image} --until 2ms"));
    let first = recorded(&format!(
        "{elf} {image} --until 700us --save-snapshot half@700us"
    ));
    let second = recorded("--from-snapshot half --until 2ms");
    let headless = second.0.strip_prefix("cycle,pin,level\n").unwrap();
    assert!(headless.lines().count() > 50);
    assert_eq!(first.0 + headless, whole.0);
    assert_eq!(first.1 + &second.1, whole.1);
}

#[test]
fn snapshots_that_cannot_be_used_get_a_sentence() {
    let (elf, other) = (board_firmware(""), board_firmware("TOUCH_UNMODELLED"));
    succeed(&format!("{elf} --until 20us --save-snapshot saved@10us"));
    for line in [
        format!("{elf} --save-snapshot late@1s"),
        format!("{other} --from-snapshot saved"),
        format!("--from-snapshot {elf}"),
        "--from-snapshot missing".into(),
    ] {
        let output = run(&format!("{line} --until 20us"));
        assert_eq!(output.status.code(), Some(1), "{line}");
        let said = stderr(&output);
        assert_eq!(said.lines().count(), 1, "{said}");
    }
}
