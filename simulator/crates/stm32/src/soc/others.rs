//! Peripherals that are wired to no others. The SoC knows them by [`Peripheral`] alone: what they
//! are, where, and which interrupts they raise stands in the chip's table.

use crate::chip::{Chip, Place};
use crate::lines::{facts, record::FamilyFacts};
use crate::peripherals::adc::Adc;
use crate::peripherals::crc::Crc;
use crate::peripherals::i2c::{v1, v2};
use crate::peripherals::iwdg::Iwdg;
use crate::peripherals::rng::Rng;
use crate::peripherals::rtc::Rtc;
use crate::peripherals::spi::Spi;
use crate::peripherals::wwdg::Wwdg;
use crate::peripherals::{Peripheral, Stored};
use crate::timebase::Frequency;
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_bytes::{ByteBuf, Bytes};

/// A model of peripherals that are wired to no others: they reach the rest of the chip by
/// [`Peripheral`] alone. A row of a chip's table names it.
pub struct Kind {
    name: &'static str,
    make: Make,
    restore: fn(&[u8]) -> postcard::Result<Box<dyn Peripheral>>,
}

/// Makes the model of a row, for a family, with the core's clock after a reset.
type Make = fn(&'static Place, &FamilyFacts, Frequency) -> Box<dyn Peripheral>;

impl Kind {
    pub fn named(name: &str) -> Option<&'static Kind> {
        KINDS.iter().find(|kind| kind.name == name)
    }
}

/// All of them. A new one is a file, a row here, and its rows in the tables of the chips.
static KINDS: [Kind; 9] = [
    kind::<Adc>("adc", |place, _, _| {
        Adc::new(&place.name, place.sensor).boxed()
    }),
    kind::<Crc>("crc", |_, _, _| Crc::default().boxed()),
    kind::<v1::I2c>("i2c", |place, _, _| v1::I2c::new(&place.name).boxed()),
    kind::<v2::I2c>("i2c-v2", |place, _, _| {
        v2::I2c::new(&place.name, place.kernel_mhz).boxed()
    }),
    kind::<Iwdg>("iwdg", |_, facts, core| {
        Iwdg::new(facts.line.watchdog_has_window, facts.rcc.lsi_hz, core).boxed()
    }),
    kind::<Rng>("rng", |_, _, _| Rng::default().boxed()),
    kind::<Rtc>("rtc", |_, _, _| Rtc::default().boxed()),
    kind::<Spi>("spi", |place, _, _| Spi::new(&place.name).boxed()),
    kind::<Wwdg>("wwdg", |_, _, _| Wwdg::default().boxed()),
];

const fn kind<T: Peripheral + DeserializeOwned + 'static>(name: &'static str, make: Make) -> Kind {
    Kind {
        name,
        make,
        restore: |bytes| Ok(Box::new(postcard::from_bytes::<T>(bytes)?)),
    }
}

/// The nth is [`Block::Other`](super::address_map::Block::Other) n of the chip.
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
    /// Those of a chip whose core runs at `core` after a reset.
    pub fn of(chip: &'static Chip, core: Frequency) -> Others {
        let other = |place: &'static Place| {
            let kind = Kind::named(place.kind.as_deref()?)?;
            Some(Other {
                kind,
                lines: place.interrupts.clone(),
                device: (kind.make)(place, facts(chip.family), core),
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

    /// The interrupt lines of the nth, and those of them that are high.
    pub fn lines(&self, n: usize) -> (u128, u128) {
        let Other { lines, device, .. } = &self.0[n];
        let levels = device.interrupts();
        let lines = lines.iter().enumerate();
        lines.fold((0, 0), |(all, high), (bit, line)| {
            let level = u128::from(levels >> bit & 1);
            (all | 1 << line, high | level << line)
        })
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
