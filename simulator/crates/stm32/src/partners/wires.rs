//! The wires of a bus and what hangs on them, as a peripheral has them. Without a partner there is
//! nothing: no time is spent, and no level drawn.

use super::attachment::Device;
use super::Act;
use crate::timebase::Frequency;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

const NS_PER_S: u64 = 1_000_000_000;

/// Levels of the wires of a bus: bit n is the nth of [`super::pins::roles`].
pub type Wired = u8;

pub const SCL: Wired = 1 << 0;
pub const SDA: Wired = 1 << 1;
pub const SCK: Wired = 1 << 0;
pub const MOSI: Wired = 1 << 1;
pub const MISO: Wired = 1 << 2;
pub const NSS: Wired = 1 << 3;
pub const TX: Wired = 1 << 0;
pub const RX: Wired = 1 << 1;

#[derive(Clone, Default, Serialize, Deserialize)]
pub struct Wires(Option<Box<Occupied>>);

#[derive(Clone, Serialize, Deserialize)]
struct Occupied {
    devices: Vec<Connected>,
    /// The device that the master has addressed, on I2C.
    addressed: Option<usize>,
    /// Wires that a pin carries.
    carried: Wired,
    levels: Wired,
    /// Changes to come, in their order: the cycle, the wires and their levels.
    drawn: VecDeque<(u64, Wired, Wired)>,
    clock: Clock,
}

#[derive(Clone, Serialize, Deserialize)]
struct Connected {
    device: Device,
    /// Its chip select is low.
    is_selected: bool,
}

/// Turns cycles into nanoseconds since power-up.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Clock {
    cycle: u64,
    ns: u64,
    core: Frequency,
}

impl Clock {
    fn ns(&self, cycle: u64) -> u64 {
        let cycles = u128::from(cycle.saturating_sub(self.cycle));
        let ns = cycles * u128::from(NS_PER_S) * u128::from(self.core.denominator)
            / u128::from(self.core.numerator.max(1));
        self.ns
            .saturating_add(u64::try_from(ns).unwrap_or(u64::MAX))
    }

    /// The first cycle that begins at or after a time.
    fn cycle(&self, ns: u64) -> u64 {
        let later = u128::from(ns.saturating_sub(self.ns)) * u128::from(self.core.numerator);
        let cycles =
            later.div_ceil(u128::from(NS_PER_S) * u128::from(self.core.denominator.max(1)));
        self.cycle
            .saturating_add(u64::try_from(cycles).unwrap_or(u64::MAX))
    }
}

impl Wires {
    pub fn is_occupied(&self) -> bool {
        self.0.is_some()
    }

    /// Hangs a device on the wires at power-up, while the core runs at `core`. Returns its number. One
    /// that has a chip select is not selected.
    pub fn attach(&mut self, device: Device, has_select: bool, core: Frequency) -> usize {
        let occupied = self.0.get_or_insert_with(|| {
            Box::new(Occupied {
                devices: Vec::new(),
                addressed: None,
                carried: 0,
                levels: !0,
                drawn: VecDeque::new(),
                clock: Clock {
                    cycle: 0,
                    ns: 0,
                    core,
                },
            })
        });
        occupied.devices.push(Connected {
            device,
            is_selected: !has_select,
        });
        occupied.devices.len() - 1
    }

    /// The chip was reset: what hangs on the wires was not.
    pub fn moved_from(&mut self, other: &mut Wires) {
        self.0 = other.0.take();
        self.erase(!0);
    }

    pub fn set_clock(&mut self, core: Frequency, now: u64) {
        let occupied = self.0.as_deref_mut();
        if let Some(Occupied { clock, .. }) =
            occupied.filter(|occupied| occupied.clock.core != core)
        {
            *clock = Clock {
                cycle: now,
                ns: clock.ns(now),
                core,
            };
        }
    }

    pub fn levels(&self) -> Wired {
        self.0.as_ref().map_or(!0, |occupied| occupied.levels)
    }

    /// The wires that a pin carries, from now on.
    pub fn set_carried(&mut self, carried: Wired) {
        if let Some(occupied) = &mut self.0 {
            occupied.carried = carried;
        }
    }

    pub fn carries(&self, wires: Wired) -> bool {
        let carried = self.0.as_ref().map_or(0, |occupied| occupied.carried);
        carried & wires == wires
    }

    /// These wires have these levels from a cycle on.
    pub fn draw(&mut self, cycle: u64, wires: Wired, levels: Wired) {
        if let Some(Occupied { drawn, .. }) = self.0.as_deref_mut() {
            let place = drawn.partition_point(|(earlier, ..)| *earlier <= cycle);
            drawn.insert(place, (cycle, wires, levels));
        }
    }

    /// What was drawn on these wires does not come: they are high.
    pub fn erase(&mut self, wires: Wired) {
        if let Some(occupied) = &mut self.0 {
            for (_, of, _) in &mut occupied.drawn {
                *of &= !wires;
            }
            occupied.levels |= wires;
        }
    }

    /// The cycle of the next change of a level, or of what a device does by itself.
    pub fn next_event(&self) -> Option<u64> {
        let occupied = self.0.as_ref()?;
        let drawn = occupied.drawn.front().map(|(cycle, ..)| *cycle);
        let devices = occupied.devices.iter();
        let acts = devices.filter_map(|connected| connected.device.partner().acts_at_ns());
        let act = acts.min().map(|ns| occupied.clock.cycle(ns));
        drawn.into_iter().chain(act).min()
    }

    /// Does what happens up to a cycle. Returns what the devices say to the receiver.
    pub fn advance(&mut self, now: u64) -> Vec<u8> {
        let Some(occupied) = &mut self.0 else {
            return Vec::new();
        };
        while let Some(&(_, wires, levels)) = occupied.drawn.front().filter(|drawn| drawn.0 <= now)
        {
            occupied.drawn.pop_front();
            occupied.levels = occupied.levels & !wires | levels & wires;
        }
        let now_ns = occupied.clock.ns(now);
        let mut said = Vec::new();
        for connected in &mut occupied.devices {
            let partner = connected.device.partner_mut();
            while partner
                .acts_at_ns()
                .is_some_and(|ns| occupied.clock.cycle(ns) <= now)
            {
                // A time that begins within this cycle has come.
                let due_ns = partner.acts_at_ns().unwrap_or(now_ns).max(now_ns);
                match partner.act(due_ns) {
                    Act::Says(bytes) => said.extend(bytes),
                    Act::Drives(level) => {
                        occupied.carried = !0;
                        occupied.levels = u8::from(level);
                    }
                }
            }
        }
        said
    }

    /// I2C: a START and an address byte. Whether a device acknowledges.
    pub fn address(&mut self, byte: u8, now: u64) -> bool {
        if !self.carries(SCL | SDA) {
            return false;
        }
        let Some(occupied) = &mut self.0 else {
            return false;
        };
        let now_ns = occupied.clock.ns(now);
        let mut devices = occupied.devices.iter_mut();
        let place = devices.position(|one| one.device.partner_mut().addressed(byte >> 1, now_ns));
        occupied.addressed = place;
        place.is_some()
    }

    fn with_addressed<T>(
        &mut self,
        now: u64,
        otherwise: T,
        to: impl FnOnce(&mut Device, u64) -> T,
    ) -> T {
        let Some(occupied) = self.0.as_deref_mut() else {
            return otherwise;
        };
        let now_ns = occupied.clock.ns(now);
        let devices = &mut occupied.devices;
        match occupied.addressed.and_then(|place| devices.get_mut(place)) {
            Some(connected) => to(&mut connected.device, now_ns),
            None => otherwise,
        }
    }

    /// I2C: a byte for the device. Whether it acknowledges.
    pub fn write(&mut self, byte: u8, now: u64) -> bool {
        self.with_addressed(now, false, |device, ns| {
            device.partner_mut().takes(byte, ns)
        })
    }

    /// I2C: the next byte of the device.
    pub fn read(&mut self, now: u64) -> u8 {
        self.with_addressed(now, 0xFF, |device, ns| device.partner_mut().sends(ns))
    }

    /// I2C: a STOP.
    pub fn stop(&mut self, now: u64) {
        self.with_addressed(now, (), |device, ns| device.partner_mut().released(ns));
        if let Some(occupied) = &mut self.0 {
            occupied.addressed = None;
        }
    }

    /// SPI: the chip select of the nth device goes low or high.
    pub fn select(&mut self, n: usize, selected: bool, now: u64) {
        let Some(occupied) = self.0.as_deref_mut() else {
            return;
        };
        let now_ns = occupied.clock.ns(now);
        if let Some(connected) = occupied.devices.get_mut(n) {
            connected.is_selected = selected;
            let partner = connected.device.partner_mut();
            match selected {
                true => partner.selected(now_ns),
                false => partner.released(now_ns),
            }
        }
    }

    /// SPI: a byte from the selected device: ones if there is none, or a wire does not reach it.
    pub fn shift_in(&mut self, now: u64) -> u8 {
        let reaches = self.carries(MISO);
        if !self.carries(SCK) {
            return 0xFF;
        }
        let Some(occupied) = self.0.as_deref_mut() else {
            return 0xFF;
        };
        let now_ns = occupied.clock.ns(now);
        let devices = occupied.devices.iter_mut();
        let selected = devices.filter(|connected| connected.is_selected);
        let sent = selected.fold(0xFF, |all, one| {
            all & one.device.partner_mut().sends(now_ns)
        });
        if reaches {
            sent
        } else {
            0xFF
        }
    }

    /// A byte for the selected devices of SPI, or for those on a serial line.
    pub fn hear(&mut self, byte: u8, needed: Wired, now: u64) {
        if !self.carries(needed) {
            return;
        }
        if let Some(occupied) = self.0.as_deref_mut() {
            let now_ns = occupied.clock.ns(now);
            for connected in &mut occupied.devices {
                if connected.is_selected {
                    connected.device.partner_mut().takes(byte, now_ns);
                }
            }
        }
    }
}
