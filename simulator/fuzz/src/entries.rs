//! What strangers can hand to the virtual Nucleo. One entry each. An entry must return, whatever
//! the bytes are. Errors are expected. Crashes and hangs are findings.

use cortex_m::bus::{Bus, Width};
use cortex_m::{Timing, Watched};
use machine::debug_port::DebugPort;
use machine::observe::masks::{Kernel, Masks};
use machine::observe::stacks::{Code, Stacks};
use machine::observe::Observer;
use machine::snapshot::Snapshot;
use machine::{Limit, Machine};
use std::io::BufReader;
use stm32::chip::FLASH_BASE;
use stm32::memory::elf::Firmware;
use stm32::memory::image::ImageArgument;
use stm32::memory::Memory;
use stm32::soc::Soc;
use virtual_nucleo::servers::beaglelogic;
use virtual_nucleo::servers::probe::protocol::{self, Call};

pub type Entry = fn(&[u8]);

/// Every entry, with the name of its target and of its corpus.
pub const ALL: [(&str, Entry); 8] = [
    ("elf", elf),
    ("image", image),
    ("code", code),
    ("bus", bus),
    ("snapshot", snapshot),
    ("analyzer", analyzer),
    ("uart", uart),
    ("probe", probe),
];

/// Long enough for firmware to do harm.
const CYCLES: u64 = 5_000;

/// Runs what is in memory for a while, or until it stops.
fn run(memory: Memory) {
    if let Ok(mut machine) = Machine::new(memory, Timing::Nucleo) {
        run_on(&mut machine);
    }
}

fn run_on(machine: &mut Machine) {
    let end = machine.cycles() + CYCLES;
    while machine.cycles() < end {
        if machine.run_slice(Limit::Cycle(end), u64::MAX).is_err() {
            break;
        }
    }
}

/// A firmware file.
pub fn elf(data: &[u8]) {
    let Ok(firmware) = Firmware::parse(data) else {
        return;
    };
    let _ = firmware.symbol("main");
    let mut memory = Memory::default();
    if firmware.place(&mut memory).is_ok() {
        if let Ok(code) = Code::parse(data) {
            run_logged(memory.clone(), &firmware, code);
        }
        run(memory);
    }
}

/// As [`run`], with a log of what holds interrupts off.
fn run_logged(memory: Memory, firmware: &Firmware, code: Code) {
    let kernel = Kernel {
        scheduler_locked: firmware.symbol("main").ok().map(|pointer| Watched {
            pointer: Some(pointer & !3),
            address: 4,
            bytes: 4,
        }),
        current_task: firmware.symbol("main").ok(),
    };
    let mut observer = Observer {
        masks: Some(Masks::new(kernel, Some(Stacks::new(code)))),
        ..Observer::default()
    };
    if let Ok(mut machine) = Machine::new(memory, Timing::Nucleo) {
        observer.attach(&mut machine);
        let end = Limit::Cycle(machine.cycles() + CYCLES);
        while !machine.reached(end) && observer.run_slice(&mut machine, end, u64::MAX).is_ok() {}
    }
}

/// An image beside firmware: its argument in a line, then its bytes.
pub fn image(data: &[u8]) {
    let mut parts = data.splitn(2, |byte| *byte == b'\n');
    let argument = String::from_utf8_lossy(parts.next().unwrap_or_default());
    let Ok(argument) = argument.parse::<ImageArgument>() else {
        return;
    };
    let mut memory = Memory::default();
    memory.load(FLASH_BASE, &READER).expect("the code fits");
    let bytes = parts.next().unwrap_or_default();
    if memory.load(argument.address, bytes).is_ok() {
        assert!(bytes.is_empty() || memory.holds(argument.address, bytes));
        run(memory);
    }
}

/// Firmware without a file around it: vectors and code from the start of the flash.
pub fn code(data: &[u8]) {
    let mut memory = Memory::default();
    if memory.load(FLASH_BASE, data).is_ok() {
        run(memory);
    }
}

/// Addresses that firmware accesses: the start of each KiB of the peripherals, and memory. The
/// core's own peripherals are not on this bus.
fn address(selector: u8, offset: u8) -> u32 {
    let base = match selector {
        0..=0xCF => 0x4000_0000 + 0x400 * u32::from(selector),
        0xD0..=0xDF => 0xE004_2000,
        0xE0..=0xEF => 0x0800_0000 + 0x4000 * u32::from(selector & 15),
        _ => 0x2000_0000 + 0x2000 * u32::from(selector & 15),
    };
    base + u32::from(offset)
}

/// Accesses, seven bytes each: what, where (two), the value (three), how much later.
pub fn bus(data: &[u8]) {
    let mut soc = Soc::new(Memory::default());
    for clocks in [0x4002_3830, 0x4002_3840, 0x4002_3844] {
        let _ = soc.write(clocks, Width::Word, 0x1000_409F & enables(clocks), 0);
    }
    let mut now = 0;
    for access in data.chunks_exact(7) {
        now += u64::from(access[6]) * u64::from(access[6]);
        soc.catch_up(now);
        let value = u32::from_le_bytes([access[3], access[4], access[5], access[5]]);
        let width =
            [Width::Byte, Width::Half, Width::Word, Width::Word][usize::from(access[0] & 3)];
        let size = [1, 2, 4, 4][usize::from(access[0] & 3)];
        let address = address(access[1], access[2]) & !(size - 1);
        let _ = match access[0] >> 2 & 3 {
            0 => soc.read(address, width, now).map(|loaded| loaded.value),
            1 => {
                soc.receive(&access[3..6], now);
                Ok(0)
            }
            _ => soc.write(address, width, value, now),
        };
    }
    soc.catch_up(now + CYCLES);
}

/// The clock bits that exist, so that most accesses reach a register.
fn enables(register: u32) -> u32 {
    match register {
        0x4002_3830 => 0x9F,
        0x4002_3840 => 0x1002_080F,
        _ => 0x4000,
    }
}

/// A snapshot file as it is, then edits of a good one, with a checksum that fits. Four bytes are an
/// edit: where, and what to add. The place is anywhere, or among the peripherals at the end. The
/// machine then runs.
pub fn snapshot(data: &[u8]) {
    let _ = Snapshot::from_bytes(data);
    let _ = Snapshot::from_payload(data);
    let mut payload = Snapshot::of(&counting()).to_payload();
    for edit in data.chunks_exact(4) {
        let place = u32::from_le_bytes([edit[0], edit[1], edit[2], 0]) as usize;
        let place = match edit[2] {
            0x80.. => payload.len() - 1 - place % PERIPHERALS_BYTES,
            _ => place % payload.len(),
        };
        payload[place] = payload[place].wrapping_add(edit[3]);
    }
    if let Ok(snapshot) = Snapshot::from_payload(&payload) {
        let again = snapshot.to_payload();
        assert!(Snapshot::from_payload(&again).is_ok());
        run_on(&mut snapshot.fork());
    }
}

/// A machine whose firmware does nothing.
fn sleeping() -> Machine {
    let mut memory = Memory::default();
    memory.load(FLASH_BASE, &SLEEP).expect("the code fits");
    Machine::new(memory, Timing::Nucleo).expect("the vectors can be read")
}

/// About what a snapshot contains after the memories.
const PERIPHERALS_BYTES: usize = 1_024;

/// The same, with TIM2 counting, comparing and interrupting, and USART2 sending.
fn counting() -> Machine {
    let mut machine = sleeping();
    let set_up = [
        (0x4002_3830, 1),
        (0x4002_3840, 1 << 17 | 1 << 11 | 1),
        (0x4000_002C, 999),
        (0x4000_0034, 500),
        (0x4000_0018, 3 << 4),
        (0x4000_0020, 1),
        (0x4000_000C, 3),
        (0x4000_0000, 1),
        (0x4000_4408, 42),
        (0x4000_440C, 1 << 13 | 1 << 3),
        (0x4000_4404, 0x55),
        (0x4000_2C00, 0xFF),
    ];
    for (register, value) in set_up {
        let written = machine.debug_write(register, Width::Word, value);
        written.expect("the registers are modelled");
    }
    machine
}

/// SP, the entry point 8, then `wfi` and a jump back to it.
const SLEEP: [u8; 12] = [
    0x00, 0x80, 0x01, 0x20, 0x09, 0x00, 0x00, 0x08, 0x30, 0xBF, 0xFD, 0xE7,
];

/// SP, the entry point 8, then code that reads words from 0x08040000 on, until one is 0.
const READER: [u8; 24] = [
    0x00, 0x80, 0x01, 0x20, 0x09, 0x00, 0x00, 0x08, // the vectors
    0x02, 0x48, // ldr r0, the word at the end
    0x04, 0xC8, 0x00, 0x2A, 0xFC, 0xD1, // ldmia r0!, {r2}; cmp r2, #0; bne back
    0xFE, 0xE7, 0x00, 0x00, // b to itself
    0x00, 0x00, 0x04, 0x08,
];

/// Lines to the logic analyzer.
pub fn analyzer(data: &[u8]) {
    let mut lines = BufReader::new(data);
    let mut settings = beaglelogic::Settings::default();
    let mut replies = Vec::new();
    while let Ok(true) = beaglelogic::negotiate(&mut settings, &mut lines, &mut replies) {}
    assert!(replies.is_empty() || replies.ends_with(b"\n"));
}

/// Bytes to the serial port. The receiver is on, and its register is read now and then.
pub fn uart(data: &[u8]) {
    let mut soc = Soc::new(Memory::default());
    let set_up = [
        (0x4002_3830, 1),
        (0x4002_3840, 1 << 17),
        (0x4002_0020, 0x7700),
        (0x4002_0000, 0xA800_00A0),
        (0x4000_4408, 42),
        (0x4000_440C, 1 << 13 | 1 << 5 | 1 << 3 | 1 << 2),
    ];
    for (register, value) in set_up {
        let _ = soc.write(register, Width::Word, value, 0);
    }
    let mut now = 0;
    for chunk in data.chunks(16) {
        soc.receive(chunk, now);
        for byte in chunk {
            now += 64 * u64::from(*byte);
            soc.catch_up(now);
            let register = if byte & 1 == 0 {
                0x4000_4400
            } else {
                0x4000_4404
            };
            let _ = soc.read(register, Width::Word, now);
            let _ = soc.write(0x4000_4404, Width::Byte, u32::from(*byte), now);
        }
    }
}

/// Lines to the debug probe. The machine carries them out, and runs between them.
pub fn probe(data: &[u8]) {
    let (mut machine, mut port) = (sleeping(), DebugPort::default());
    for line in data.split(|byte| *byte == b'\n').take(64) {
        let (id, call) = protocol::parse(line);
        let outcome = match call {
            Ok(Call::Target(request, shape)) => port
                .answer(&mut machine, request)
                .map(|answer| shape.value(answer))
                .map_err(protocol::Refusal::from),
            Ok(Call::Settled(value)) => Ok(value),
            Ok(Call::Lock | Call::Unlock) => Ok(Default::default()),
            Err(refusal) => Err(refusal),
        };
        assert!(protocol::reply(&id, outcome).ends_with('\n'));
        let end = machine.cycles() + 50;
        let _ = machine.run_slice(Limit::Cycle(end), 50);
    }
}
