//! External interrupt controller (RM0368 §10.3, RM0351 §14.5, RM0008 §10.3, RM0091 §11.3): interrupts and events by edges of pins (lines
//! 0–15), or by software (all lines).

use super::registers::{rows, Register, Registers, Unmodelled};
use super::Peripheral;
use serde::{Deserialize, Serialize};

/// Where a controller has its registers.
#[derive(Clone, Copy, Default)]
pub struct Places {
    pub imr: u32,
    pub emr: u32,
    pub rtsr: u32,
    pub ftsr: u32,
    pub swier: u32,
    /// What pends by rising edges and by software, and what by falling ones.
    pub pending: [u32; 2],
}

/// Those of a controller that pends lines in one register.
pub const PLACES: Places = Places {
    imr: 0x00,
    emr: 0x04,
    rtsr: 0x08,
    ftsr: 0x0C,
    swier: 0x10,
    pending: [0x14, 0x14],
};

/// What tells the controller of one line from that of another.
#[derive(Clone, Copy, Default)]
pub struct ExtiFacts {
    pub places: Places,
    pub table: &'static [Register],
    /// The lines that each interrupt vector serves.
    pub vectors: &'static [(u16, u32)],
    /// EXTICR1, where it is here and not in SYSCFG: a byte for each line.
    pub exticr: Option<u32>,
}

/// The registers of a controller with these `lines`.
pub const fn table(lines: u32) -> [Register; 6] {
    rows! {
        PLACES.imr, "IMR", 0, lines;
        PLACES.emr, "EMR", 0, lines;
        PLACES.rtsr, "RTSR", 0, lines;
        PLACES.ftsr, "FTSR", 0, lines;
        PLACES.swier, "SWIER", 0, lines;
        PLACES.pending[0], "PR", 0, lines;
    }
}

#[derive(Clone, Serialize, Deserialize)]
pub struct Exti {
    /// A snapshot leaves them out.
    #[serde(skip)]
    pub facts: ExtiFacts,
    registers: Registers,
    /// An event that the core does not know yet.
    event: bool,
}

impl Exti {
    pub fn of(facts: ExtiFacts) -> Exti {
        Exti {
            facts,
            registers: Registers::new("EXTI", facts.table),
            event: false,
        }
    }

    /// Whether `line` listens to pin number `line` of this port. `None`: SYSCFG says.
    pub fn selects(&self, port: usize, line: u32) -> Option<bool> {
        let first = self.facts.exticr?;
        let code = self.registers.get(first + line / 4 * 4) >> (line % 4 * 8) & 0xFF;
        Some(code as usize == port)
    }

    /// The pin of `line` has changed to `level`. Returns whether the line listens for this edge.
    pub fn edge(&mut self, line: u32, level: bool) -> bool {
        let places = self.facts.places;
        let (edges, pending) = match level {
            true => (places.rtsr, places.pending[0]),
            false => (places.ftsr, places.pending[1]),
        };
        let heard = self.registers.has(edges, 1 << line);
        if heard {
            self.raise(1 << line, pending);
        }
        heard
    }

    /// Whether an event came since the last call. It wakes the core from WFE (§10.2.3).
    pub fn take_event(&mut self) -> bool {
        std::mem::take(&mut self.event)
    }

    /// The interrupt lines of this controller, and those of them that are high. Bit n is line n.
    pub fn interrupt_lines(&self) -> (u128, u128) {
        let [rising, falling] = self.facts.places.pending;
        let pending = self.registers.get(rising) | self.registers.get(falling);
        let vectors = self.facts.vectors.iter();
        vectors.fold((0, 0), |(all, high), (irq, lines)| {
            let level = u128::from(pending & lines != 0);
            (all | 1 << irq, high | level << irq)
        })
    }

    /// Sets lines pending and makes an event, as far as their masks allow it (§10.2.4).
    fn raise(&mut self, lines: u32, pending: u32) {
        let unmasked = lines & self.registers.get(self.facts.places.imr);
        self.registers.set_bits(pending, unmasked, true);
        self.event |= lines & self.registers.get(self.facts.places.emr) != 0;
    }
}

impl Peripheral for Exti {
    fn registers(&self) -> &Registers {
        &self.registers
    }

    fn write(&mut self, offset: u32, value: u32, _now: u64) -> Result<(), Unmodelled> {
        let places = self.facts.places;
        let [rising, falling] = places.pending;
        if offset == places.swier {
            let raised = value & !self.registers.get(offset);
            self.registers.set_bits(offset, raised, true);
            self.raise(raised, rising);
        } else if offset == rising || offset == falling {
            // Writing one clears the bit, in SWIER too (§10.3.5, §10.3.6).
            self.registers.set_bits(offset, value, false);
            self.registers.set_bits(places.swier, value, false);
        } else {
            self.registers.set(offset, value);
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
    use crate::lines::{f0, f1, f4, g0, g4, l4};
    use crate::peripherals::tests::*;

    const IMR: u32 = PLACES.imr;
    const EMR: u32 = PLACES.emr;
    const RTSR: u32 = PLACES.rtsr;
    const FTSR: u32 = PLACES.ftsr;
    const SWIER: u32 = PLACES.swier;
    const PR: u32 = PLACES.pending[0];

    /// Of the F4, with the interrupts of these lines unmasked.
    fn unmasked(lines: u32) -> Exti {
        let mut exti = Exti::of(f4::LINE.exti);
        exti.write(IMR, lines, 0).unwrap();
        exti
    }

    fn raised(exti: &Exti) -> Vec<u16> {
        let (_, levels) = exti.interrupt_lines();
        (0..128).filter(|irq| levels >> irq & 1 != 0).collect()
    }

    #[test]
    fn only_the_selected_edge_of_an_unmasked_line_pends() {
        let mut exti = unmasked(1 << 13);
        exti.write(FTSR, 1 << 13 | 1 << 2, 0).unwrap();
        let edges = [(13, true), (2, false), (13, false)];
        let interrupts = edges.map(|(line, level)| (exti.edge(line, level), raised(&exti)));
        assert_eq!(
            interrupts,
            [(false, vec![]), (true, vec![]), (true, vec![40])]
        );
        exti.write(PR, 1 << 13, 0).unwrap();
        assert!(raised(&exti).is_empty());
    }

    #[test]
    fn an_event_pends_nothing_and_is_told_once() {
        let mut exti = Exti::of(f4::LINE.exti);
        exti.follow([
            Write(EMR, 1 << 4 | 1 << 6, 0),
            Write(RTSR, 1 << 4 | 1 << 5, 0),
        ]);
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
        // RM0368 §10.1.3, table 38, and §10.2.5; of the others xxx_IRQn of ST's device headers.
        for (line, pin, irq) in [
            (&f4::LINE, 16, 1),
            (&f4::LINE, 21, 2),
            (&f4::LINE, 22, 3),
            (&f4::LINE, 4, 10),
            (&f4::LINE, 5, 23),
            (&f4::LINE, 9, 23),
            (&f4::LINE, 10, 40),
            (&f4::LINE, 15, 40),
            (&f4::LINE, 17, 41),
            (&f4::LINE, 18, 42),
            (&l4::LINE, 4, 10),
            (&l4::LINE, 13, 40),
            (&l4::LINE, 18, 41),
            (&f1::LINE, 0, 6),
            (&f1::LINE, 9, 23),
            (&f0::LINE, 0, 5),
            (&f0::LINE, 1, 5),
            (&f0::LINE, 3, 6),
            (&f0::LINE, 4, 7),
            (&f0::LINE, 15, 7),
            (&g0::LINE, 1, 5),
            (&g0::LINE, 15, 7),
            (&g4::LINE, 9, 23),
            (&g4::LINE, 29, 64),
        ] {
            let mut exti = Exti::of(line.exti);
            let places = line.exti.places;
            let masks = exti.read(places.imr, 0);
            exti.write(places.imr, masks | 1 << pin, 0).unwrap();
            exti.write(places.rtsr, 1 << pin, 0).unwrap();
            assert!(exti.edge(pin, true));
            assert_eq!(raised(&exti), [irq], "{} {pin}", line.name);
        }
    }

    /// RM0444 §13.5.4, §13.5.5, §13.5.6: a pending register for each edge, and the ports by bytes.
    #[test]
    fn edges_up_and_down_pend_apart_on_the_stm32g0() {
        let mut exti = Exti::of(g0::LINE.exti);
        let [rising, falling] = g0::LINE.exti.places.pending;
        exti.follow([
            Write(0x80, 1 << 13, 0),
            Write(0x00, 1 << 13, 0),
            Write(0x04, 1 << 13, 0),
            Write(0x6C, 2 << 8, 0),
        ]);
        assert_eq!(
            (exti.selects(2, 13), exti.selects(0, 13)),
            (Some(true), Some(false))
        );
        assert!(exti.edge(13, false));
        exti.follow([Read(rising, 0, 0), Read(falling, 1 << 13, 0)]);
        assert_eq!(raised(&exti), [7]);
        exti.write(rising, 1 << 13, 0).unwrap();
        assert_eq!(raised(&exti), [7]);
        exti.write(falling, 1 << 13, 0).unwrap();
        assert!(raised(&exti).is_empty());
    }

    #[test]
    fn software_raises_an_unmasked_line() {
        let mut exti = unmasked(1 << 7);
        exti.write(SWIER, 1 << 7, 0).unwrap();
        assert_eq!(raised(&exti), [23]);
        exti.follow([Write(PR, 1 << 7, 0), Read(SWIER, 0, 0)]);
    }
}
