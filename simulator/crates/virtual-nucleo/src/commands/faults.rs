//! What is said of a program that ended in the handler of a fault, or locked up: the fault, what
//! caused it, and where.

use cortex_m::bus::Width;
use cortex_m::{FaultEntry, FaultStatus};
use machine::{Machine, SEMIHOSTING};
use stm32::memory::elf::Firmware;
use stm32::memory::Memory;

const MMARVALID: u32 = 1 << 7;
const BFARVALID: u32 = 1 << 15;
/// MUNSTKERR and the like: what is on the stack is no frame.
const STACKING_FAILED: u32 = 1 << 4 | 1 << 5 | 1 << 12 | 1 << 13;
const HFSR_VECTTBL: u32 = 1 << 1;
const HFSR_DEBUGEVT: u32 = 1 << 31;
/// LR and PC in a frame (DDI 0403E, B1.5.6).
const FRAME_LR: u32 = 20;
const FRAME_PC: u32 = 24;

/// What each bit of CFSR says (DDI 0403E, B3.2.15).
const CAUSES: [(u32, &str); 17] = [
    (
        0,
        "an instruction fetch that the memory map forbids (IACCVIOL)",
    ),
    (
        1,
        "an access to data that the memory protection forbids (DACCVIOL)",
    ),
    (
        3,
        "an exception return that the memory protection forbids (MUNSTKERR)",
    ),
    (4, "a stack that the memory protection forbids (MSTKERR)"),
    (
        5,
        "a lazy save of floating-point registers that the memory protection forbids (MLSPERR)",
    ),
    (
        8,
        "an instruction fetch from where nothing answers (IBUSERR)",
    ),
    (9, "an access to data where nothing answers (PRECISERR)"),
    (
        10,
        "a buffered write that nothing answered, some instructions before (IMPRECISERR)",
    ),
    (
        11,
        "an exception return from a stack where nothing answers (UNSTKERR)",
    ),
    (12, "a stack where nothing answers (STKERR)"),
    (
        13,
        "a lazy save of floating-point registers where nothing answers (LSPERR)",
    ),
    (16, "an undefined instruction (UNDEFINSTR)"),
    (17, "a jump without the Thumb bit (INVSTATE)"),
    (18, "an invalid exception return (INVPC)"),
    (
        19,
        "a floating-point or coprocessor instruction that is not enabled (NOCP)",
    ),
    (24, "an unaligned access (UNALIGNED)"),
    (25, "a division by zero (DIVBYZERO)"),
];

/// The name of a fault's exception.
fn name(exception: u8) -> &'static str {
    match exception {
        3 => "HardFault",
        4 => "MemManage",
        5 => "BusFault",
        _ => "UsageFault",
    }
}

/// Says on standard error that the program ended in the handler of `fault`.
pub fn report(machine: &mut Machine, firmware: Option<&Firmware>, fault: FaultEntry) {
    eprintln!(
        "virtual-nucleo: the program ended in the handler of a {}",
        name(fault.exception)
    );
    details(machine, firmware, fault);
}

/// Says on standard error what caused `fault`, and where.
pub fn details(machine: &mut Machine, firmware: Option<&Firmware>, fault: FaultEntry) {
    let status = machine.core().scb().fault_status();
    let pc = stacked(machine, fault, FRAME_PC).filter(|_| status.cfsr & STACKING_FAILED == 0);
    for cause in causes(&status) {
        eprintln!("virtual-nucleo: cause: {cause}");
    }
    if let Some(pc) = pc {
        eprintln!("virtual-nucleo: at pc {}", place(firmware, pc));
        if let Some(lr) = stacked(machine, fault, FRAME_LR) {
            eprintln!("virtual-nucleo: lr {}", place(firmware, lr & !1));
        }
        if status.hfsr & HFSR_DEBUGEVT != 0 && is_host_call(machine, pc) {
            eprintln!("virtual-nucleo: this is a semihosting call: run with --semihosting");
        }
    }
    let FaultStatus {
        cfsr,
        hfsr,
        mmfar,
        bfar,
    } = status;
    eprintln!(
        "virtual-nucleo: CFSR {cfsr:#010x} HFSR {hfsr:#010x} MMFAR {mmfar:#010x} BFAR {bfar:#010x}"
    );
}

/// A word of the fault's frame. `None` if it is not in memory.
fn stacked(machine: &mut Machine, fault: FaultEntry, offset: u32) -> Option<u32> {
    let address = fault.frame.wrapping_add(offset);
    machine.debug_read(address, Width::Word).ok()
}

fn is_host_call(machine: &mut Machine, pc: u32) -> bool {
    machine.code(pc) == Some(0xBE00 | u16::from(SEMIHOSTING))
}

fn place(firmware: Option<&Firmware>, address: u32) -> String {
    let address = Memory::canonical(address);
    match firmware.and_then(|firmware| firmware.function_at(address)) {
        Some(function) => format!("{address:#010x} ({function})"),
        None => format!("{address:#010x}"),
    }
}

/// What the fault registers say, in words.
fn causes(status: &FaultStatus) -> Vec<String> {
    let told = CAUSES
        .iter()
        .filter(|(bit, _)| status.cfsr >> bit & 1 != 0)
        .map(|(_, words)| (*words).to_owned());
    let of_memory = status.cfsr & MMARVALID != 0;
    let of_bus = status.cfsr & BFARVALID != 0;
    let address = |known: bool, name: &str, at: u32| known.then(|| format!("{name} {at:#010x}"));
    told.chain((status.hfsr & HFSR_VECTTBL != 0).then(|| "a vector that cannot be read".into()))
        .chain((status.hfsr & HFSR_DEBUGEVT != 0).then(|| "a BKPT without a debugger".into()))
        .chain(address(of_memory, "the address is", status.mmfar))
        .chain(address(of_bus, "the address is", status.bfar))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_are_told_in_words() {
        // DDI 0403E, B3.2.15: PRECISERR and BFARVALID are bits 9 and 15, DIVBYZERO is bit 25.
        let status = FaultStatus {
            cfsr: 0x0200_8200,
            hfsr: 1 << 30,
            mmfar: 0x2000_0000,
            bfar: 0x6000_0010,
        };
        let told = causes(&status);
        assert!(told[0].contains("nothing answers (PRECISERR)"));
        assert!(told[1].contains("division by zero"));
        assert_eq!(told[2], "the address is 0x60000010");
        assert_eq!(told.len(), 3);
        assert!(causes(&FaultStatus::default()).is_empty());
    }
}
