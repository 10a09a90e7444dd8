//! External interrupt controller (RM0368 §10.3): interrupts and events by edges of pins (lines
//! 0–15), or by software (all lines).

use super::registers::{Register, Registers, Unmodelled};
use super::Peripheral;
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

static TABLE: &[Register] = &[
    Register::new(IMR, "IMR", 0, LINES),
    Register::new(EMR, "EMR", 0, LINES),
    Register::new(RTSR, "RTSR", 0, LINES),
    Register::new(FTSR, "FTSR", 0, LINES),
    Register::new(SWIER, "SWIER", 0, LINES),
    Register::new(PR, "PR", 0, LINES),
];

/// Lines served by each interrupt vector (§10.1.3, table 38).
const VECTORS: [(u16, u32); 12] = [
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

#[derive(Clone, Serialize, Deserialize)]
pub struct Exti {
    registers: Registers,
    /// An event that the core does not know yet.
    event: bool,
}

impl Default for Exti {
    fn default() -> Self {
        Exti {
            registers: Registers::new("EXTI", TABLE),
            event: false,
        }
    }
}

impl Exti {
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
    pub const INTERRUPT_LINES: u128 = interrupt_lines(!0);

    /// Bit n is the level of interrupt line n.
    pub fn interrupt_lines(&self) -> u128 {
        interrupt_lines(self.registers.get(PR))
    }

    /// Sets lines pending and makes an event, as far as their masks allow it (§10.2.4).
    fn raise(&mut self, lines: u32) {
        let unmasked = lines & self.registers.get(IMR);
        self.registers.set_bits(PR, unmasked, true);
        self.event |= lines & self.registers.get(EMR) != 0;
    }
}

/// The interrupt lines that are high while the lines `pending` are pending.
const fn interrupt_lines(pending: u32) -> u128 {
    let (mut levels, mut n) = (0, 0);
    while n < VECTORS.len() {
        let (irq, lines) = VECTORS[n];
        levels |= ((pending & lines != 0) as u128) << irq;
        n += 1;
    }
    levels
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
        let mut exti = Exti::default();
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
        let mut exti = Exti::default();
        exti.write(IMR, 1 << 7, 0).unwrap();
        exti.write(SWIER, 1 << 7, 0).unwrap();
        assert_eq!(raised(&exti), [23]);
        exti.write(PR, 1 << 7, 0).unwrap();
        assert_eq!(exti.read(SWIER, 0), 0);
    }

    #[test]
    fn an_event_pends_nothing_and_is_told_once() {
        let mut exti = Exti::default();
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
            let mut exti = Exti::default();
            exti.write(IMR, 1 << line, 0).unwrap();
            exti.write(SWIER, 1 << line, 0).unwrap();
            assert_eq!(raised(&exti), [irq], "line {line}");
        }
    }
}
