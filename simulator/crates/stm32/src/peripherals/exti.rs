//! External interrupt controller (RM0368 §10.3, RM0351 §14.5, RM0008 §10.3, RM0091 §11.3): interrupts and events by edges of pins (lines
//! 0–15), or by software (all lines).

use super::registers::{Register, Registers, Unmodelled};
use super::Peripheral;
use crate::chip::Line;
use serde::{Deserialize, Serialize};

const IMR: u32 = 0x00;
const EMR: u32 = 0x04;
const RTSR: u32 = 0x08;
const FTSR: u32 = 0x0C;
const SWIER: u32 = 0x10;
const PR: u32 = 0x14;
/// The lines of the pins, then 16 (PVD), 17, 21 and 22 (RTC) and 18 (USB). The sources of the
/// latter are not modelled, so only software raises them.
const LINES: u32 = 0x0067_FFFF;

/// Lines of the STM32L4's first registers that edges raise: those of pins, PVD, USB, RTC and COMP.
const LINES_L4: u32 = 0x007D_FFFF;
/// Of the STM32F1: pins, PVD, RTC alarm, USB.
const LINES_F1: u32 = 0x0007_FFFF;
/// Of the STM32F0: pins, PVD, RTC, COMP and VDDIO2.
const LINES_F0: u32 = 0x807B_FFFF;

const fn table(lines: u32) -> [Register; 6] {
    [
        Register::new(IMR, "IMR", 0, lines),
        Register::new(EMR, "EMR", 0, lines),
        Register::new(RTSR, "RTSR", 0, lines),
        Register::new(FTSR, "FTSR", 0, lines),
        Register::new(SWIER, "SWIER", 0, lines),
        Register::new(PR, "PR", 0, lines),
    ]
}

static TABLE: [Register; 6] = table(LINES);
static TABLE_F1: [Register; 6] = table(LINES_F1);
/// The lines of peripherals that wake the chip are unmasked from reset on.
static TABLE_F0: [Register; 6] = {
    let mut table = table(LINES_F0);
    table[0] = Register::new(IMR, "IMR", 0x7F84_0000, !0);
    table[1] = Register::new(EMR, "EMR", 0, !0);
    table
};
static TABLE_L4: [Register; 12] = [
    Register::new(IMR, "IMR1", 0xFF82_0000, !0),
    Register::new(EMR, "EMR1", 0, !0),
    Register::new(RTSR, "RTSR1", 0, LINES_L4),
    Register::new(FTSR, "FTSR1", 0, LINES_L4),
    Register::new(SWIER, "SWIER1", 0, LINES_L4),
    Register::new(PR, "PR1", 0, LINES_L4),
    // The lines 32 to 39: LCD, LPUART1, LPTIMs, SWPMI, PVM.
    Register::new(0x20, "IMR2", 0xFFFF_FF87, 0).missing(0xFF),
    Register::new(0x24, "EMR2", 0, 0).missing(0xFF),
    Register::new(0x28, "RTSR2", 0, 0).missing(0x78),
    Register::new(0x2C, "FTSR2", 0, 0).missing(0x78),
    Register::new(0x30, "SWIER2", 0, 0).missing(0x78),
    Register::new(0x34, "PR2", 0, 0).missing(0x78),
];

/// Lines served by each interrupt vector (§10.1.3, table 38).
static VECTORS: [(u16, u32); 12] = [
    (1, 1 << 16),
    (2, 1 << 21),
    (3, 1 << 22),
    (6, 0x0001),
    (7, 0x0002),
    (8, 0x0004),
    (9, 0x0008),
    (10, 0x0010),
    (23, 0x03E0),
    (40, 0xFC00),
    (41, 1 << 17),
    (42, 1 << 18),
];
/// RM0351 §13.3, table 57.
static VECTORS_L4: [(u16, u32); 13] = [
    (1, 1 << 16),
    (2, 1 << 19),
    (3, 1 << 20),
    (6, 0x0001),
    (7, 0x0002),
    (8, 0x0004),
    (9, 0x0008),
    (10, 0x0010),
    (23, 0x03E0),
    (40, 0xFC00),
    (41, 1 << 18),
    (64, 0b11 << 21),
    (67, 1 << 17),
];
/// RM0008 §10.1.2, table 63.
static VECTORS_F1: [(u16, u32); 10] = [
    (1, 1 << 16),
    (6, 0x0001),
    (7, 0x0002),
    (8, 0x0004),
    (9, 0x0008),
    (10, 0x0010),
    (23, 0x03E0),
    (40, 0xFC00),
    (41, 1 << 17),
    (42, 1 << 18),
];
/// RM0091 §11.1.3, table 37.
static VECTORS_F0: [(u16, u32); 6] = [
    (1, 1 << 16 | 1 << 31),
    (2, 1 << 17 | 0b11 << 19),
    (5, 0x0003),
    (6, 0x000C),
    (7, 0xFFF0),
    (12, 0b11 << 21),
];

fn vectors(line: Line) -> &'static [(u16, u32)] {
    match line {
        Line::F4 => &VECTORS,
        Line::L4 => &VECTORS_L4,
        Line::F1 => &VECTORS_F1,
        Line::F0 => &VECTORS_F0,
    }
}

#[derive(Clone, Serialize, Deserialize)]
pub struct Exti {
    line: Line,
    registers: Registers,
    /// An event that the core does not know yet.
    event: bool,
}

impl Exti {
    pub fn of(line: Line) -> Exti {
        let table: &'static [Register] = match line {
            Line::F4 => &TABLE,
            Line::L4 => &TABLE_L4,
            Line::F1 => &TABLE_F1,
            Line::F0 => &TABLE_F0,
        };
        Exti {
            line,
            registers: Registers::new("EXTI", table),
            event: false,
        }
    }

    /// The pin of `line` has changed to `level`. Returns whether the line listens for this edge.
    pub fn edge(&mut self, line: u32, level: bool) -> bool {
        let heard = self.registers.bit(if level { RTSR } else { FTSR }, line);
        if heard {
            self.raise(1 << line);
        }
        heard
    }

    /// Whether an event came since the last call. It wakes the core from WFE (§10.2.3).
    pub fn take_event(&mut self) -> bool {
        std::mem::take(&mut self.event)
    }

    /// The interrupt lines of this controller. Bit n is line n.
    pub fn all_interrupt_lines(&self) -> u128 {
        interrupt_lines(vectors(self.line), !0)
    }

    /// Bit n is the level of interrupt line n.
    pub fn interrupt_lines(&self) -> u128 {
        interrupt_lines(vectors(self.line), self.registers.get(PR))
    }

    /// Sets lines pending and makes an event, as far as their masks allow it (§10.2.4).
    fn raise(&mut self, lines: u32) {
        let unmasked = lines & self.registers.get(IMR);
        self.registers.set_bits(PR, unmasked, true);
        self.event |= lines & self.registers.get(EMR) != 0;
    }
}

/// The interrupt lines that are high while the lines `pending` are pending.
fn interrupt_lines(vectors: &[(u16, u32)], pending: u32) -> u128 {
    let high = vectors.iter().filter(|(_, lines)| pending & lines != 0);
    high.fold(0, |levels, (irq, _)| levels | 1 << irq)
}

impl Peripheral for Exti {
    fn registers(&self) -> &Registers {
        &self.registers
    }

    fn write(&mut self, offset: u32, value: u32, _now: u64) -> Result<(), Unmodelled> {
        match offset {
            // Writing one clears the bit, in SWIER too (§10.3.5, §10.3.6).
            PR => {
                self.registers.set_bits(PR, value, false);
                self.registers.set_bits(SWIER, value, false);
            }
            SWIER => {
                let raised = value & !self.registers.get(SWIER);
                self.registers.set_bits(SWIER, raised, true);
                self.raise(raised);
            }
            _ => self.registers.set(offset, value),
        }
        Ok(())
    }

    fn reset(&mut self) {
        self.registers.reset();
        self.event = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raised(exti: &Exti) -> Vec<u16> {
        let levels = exti.interrupt_lines();
        (0..128).filter(|irq| levels >> irq & 1 != 0).collect()
    }

    #[test]
    fn only_the_selected_edge_of_an_unmasked_line_pends() {
        let mut exti = Exti::of(Line::F4);
        exti.write(IMR, 1 << 13, 0).unwrap();
        exti.write(FTSR, 1 << 13 | 1 << 2, 0).unwrap();
        assert!(!exti.edge(13, true));
        assert!(exti.edge(2, false));
        assert!(raised(&exti).is_empty());
        assert!(exti.edge(13, false));
        assert_eq!(raised(&exti), [40]);
        exti.write(PR, 1 << 13, 0).unwrap();
        assert!(raised(&exti).is_empty());
    }

    #[test]
    fn software_raises_an_unmasked_line() {
        let mut exti = Exti::of(Line::F4);
        exti.write(IMR, 1 << 7, 0).unwrap();
        exti.write(SWIER, 1 << 7, 0).unwrap();
        assert_eq!(raised(&exti), [23]);
        exti.write(PR, 1 << 7, 0).unwrap();
        assert_eq!(exti.read(SWIER, 0), 0);
    }

    #[test]
    fn an_event_pends_nothing_and_is_told_once() {
        let mut exti = Exti::of(Line::F4);
        exti.write(EMR, 1 << 4 | 1 << 6, 0).unwrap();
        exti.write(RTSR, 1 << 4 | 1 << 5, 0).unwrap();
        exti.edge(4, false);
        exti.edge(5, true);
        assert!(!exti.take_event());
        exti.edge(4, true);
        assert!(exti.take_event() && !exti.take_event());
        exti.write(SWIER, 1 << 6, 0).unwrap();
        assert!(exti.take_event());
        assert_eq!(exti.read(PR, 0), 0);
    }

    #[test]
    fn every_line_of_the_other_lines_has_its_vector() {
        // xxx_IRQn of ST's device headers.
        for (line, pin, irq) in [
            (Line::L4, 4, 10),
            (Line::L4, 13, 40),
            (Line::L4, 18, 41),
            (Line::F1, 0, 6),
            (Line::F1, 9, 23),
            (Line::F0, 0, 5),
            (Line::F0, 1, 5),
            (Line::F0, 3, 6),
            (Line::F0, 4, 7),
            (Line::F0, 15, 7),
        ] {
            let mut exti = Exti::of(line);
            let masks = exti.read(IMR, 0);
            exti.write(IMR, masks | 1 << pin, 0).unwrap();
            exti.write(RTSR, 1 << pin, 0).unwrap();
            assert!(exti.edge(pin, true));
            assert_eq!(raised(&exti), [irq], "{line:?} {pin}");
        }
    }

    #[test]
    fn every_line_has_its_vector() {
        // RM0368 §10.1.3, table 38, and §10.2.5.
        let expected = [
            (16, 1),
            (21, 2),
            (22, 3),
            (4, 10),
            (5, 23),
            (9, 23),
            (10, 40),
            (15, 40),
            (17, 41),
            (18, 42),
        ];
        for (line, irq) in expected {
            let mut exti = Exti::of(Line::F4);
            exti.write(IMR, 1 << line, 0).unwrap();
            exti.write(SWIER, 1 << line, 0).unwrap();
            assert_eq!(raised(&exti), [irq], "line {line}");
        }
    }
}
