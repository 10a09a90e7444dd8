//! Peripherals that are wired to no others. The SoC knows them by [`Peripheral`] alone: what they
//! are, where, and which interrupts they raise stands in the chip's table.

use super::schedule::FIRST_OTHER;
use super::Soc;
use crate::chip::Chip;
use crate::peripherals::address_map::Entry;
use crate::peripherals::{Kind, Peripheral};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_bytes::{ByteBuf, Bytes};

/// The nth is [`Block::Other`](crate::peripherals::address_map::Block::Other) n of the chip.
#[derive(Clone)]
pub(super) struct Others(Vec<Other>);

struct Other {
    kind: &'static Kind,
    /// Its interrupt lines.
    lines: Vec<u16>,
    device: Box<dyn Peripheral>,
}

impl Clone for Other {
    fn clone(&self) -> Other {
        Other {
            kind: self.kind,
            lines: self.lines.clone(),
            device: self.device.boxed(),
        }
    }
}

impl Others {
    pub fn of(chip: &'static Chip) -> Others {
        let other = |place: &'static Entry| {
            let kind = place.kind?;
            Some(Other {
                kind,
                lines: place.interrupts.clone(),
                device: (kind.make)(place, chip),
            })
        };
        Others(chip.peripherals.iter().filter_map(other).collect())
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn get(&self, n: usize) -> &dyn Peripheral {
        &*self.0[n].device
    }

    pub fn get_mut(&mut self, n: usize) -> &mut dyn Peripheral {
        &mut *self.0[n].device
    }
}

/// The kind, the interrupt lines and the state of each.
impl Serialize for Others {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let stored: Vec<_> = self.0.iter().map(|other| other.device.stored()).collect();
        let rows = self.0.iter().zip(&stored);
        serializer.collect_seq(
            rows.map(|(other, state)| (other.kind.name, &other.lines, Bytes::new(state))),
        )
    }
}

impl<'de> Deserialize<'de> for Others {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let restored = |(name, lines, state): (String, Vec<u16>, ByteBuf)| {
            let kind = Kind::named(&name)
                .ok_or_else(|| D::Error::custom(format!("no peripheral is a {name:?}")))?;
            let device = (kind.restore)(&state).map_err(D::Error::custom)?;
            Ok(Other {
                kind,
                lines,
                device,
            })
        };
        let rows = Vec::deserialize(deserializer)?;
        Ok(Others(
            rows.into_iter().map(restored).collect::<Result<_, _>>()?,
        ))
    }
}

impl Soc {
    /// Call after a change of the nth: its interrupts, its next event, a reset of the chip.
    pub(super) fn other_changed(&mut self, n: usize) {
        let other = &mut self.others.0[n];
        let levels = other.device.interrupts();
        let (mut lines, mut high) = (0, 0);
        for (bit, line) in other.lines.iter().enumerate() {
            lines |= 1 << line;
            high |= u128::from(levels >> bit & 1) << line;
        }
        if let Some(cause) = other.device.take_reset() {
            self.reset_due = Some(cause);
            self.attention = true;
        }
        self.set_interrupt_lines(lines, high);
        self.reschedule(FIRST_OTHER + n);
        self.reschedule_partners();
    }
}
