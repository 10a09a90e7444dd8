//! What hangs on the chip's pins: levels that come from outside, and when they change.

use super::address_map::Block;
use super::schedule::{FIRST_OTHER, FIRST_USART, FLASH, PARTNERS};
use super::{Attached, Select, Soc};
use crate::edges::{Pin, PORTS};
use crate::partners::attachment::{Attachment, Place};
use crate::partners::pins::{roles, BusPin};
use crate::partners::wires::{Wires, RX};
use crate::partners::Bus;
use crate::peripherals::gpio::Levels;

/// Bytes that may wait for a receiver. A partner that says more is not heard.
const MOST_WAITING: usize = 1 << 16;

impl Soc {
    /// Hangs a device on the chip, before it runs. An error says what the chip lacks.
    pub fn attach(&mut self, attachment: &Attachment) -> Result<(), String> {
        let device = attachment.device.clone();
        let core = self.logic.clocks.core;
        match &attachment.place {
            Place::Pin(pin) => {
                let mut wires = Wires::default();
                wires.attach(device, false, core);
                wires.set_carried(0);
                self.partners.scripts.push((*pin, wires));
            }
            Place::Bus(name, bus, select) => {
                let source = self.source_of(name)?;
                let Some(wires) = self.logic.wires_mut(source) else {
                    return Err(format!("{name} has no wires that are modelled"));
                };
                let device = wires.attach(device, select.is_some(), core);
                self.occupy(source, name, *bus);
                if let Some(pin) = *select {
                    self.partners.selecting[usize::from(pin.port)] |= 1 << pin.number;
                    self.observed[usize::from(pin.port)] |= 1 << pin.number;
                    self.partners.selects.push(Select {
                        pin,
                        source,
                        device,
                    });
                }
            }
        }
        self.logic.responders.forget();
        self.partners_moved(0);
        Ok(())
    }

    /// The place in the schedule of a peripheral that may have wires.
    fn source_of(&self, name: &str) -> Result<usize, String> {
        let mut entries = self.map.entries.iter();
        let entry = entries.find(|entry| entry.place.name == name);
        match entry.and_then(|entry| entry.block) {
            Some(Block::Usart(usart)) => Ok(FIRST_USART + usart),
            Some(Block::Other(n)) => Ok(FIRST_OTHER + n),
            _ => Err(format!(
                "the {} has no {name}, or it is not modelled",
                self.memory.chip().name
            )),
        }
    }

    fn occupy(&mut self, source: usize, name: &str, bus: Bus) {
        if self.partners.sources().all(|occupied| occupied != source) {
            let rows = self.memory.chip().bus_pins.split(',');
            let mut pins: Vec<BusPin> = rows
                .filter_map(|row| BusPin::of_row(row, name, bus))
                .collect();
            if let FIRST_USART..FLASH = source {
                let usart = source - FIRST_USART;
                let routes = [
                    &self.routes().usart_tx[usart],
                    &self.routes().usart_rx[usart],
                ];
                for (wire, pins_of_wire) in routes.into_iter().enumerate() {
                    pins.extend(pins_of_wire.iter().map(|&(port, number, function)| BusPin {
                        pin: Pin {
                            port: port as u8,
                            number: number as u8,
                        },
                        function,
                        wire,
                        is_output: roles(bus)[wire].1,
                    }));
                }
            }
            self.partners.buses.push(Attached { source, pins });
        }
    }

    /// Nothing is attached: the usual case.
    #[inline(always)]
    pub(super) fn is_alone(&self) -> bool {
        self.partners.buses.is_empty() && self.partners.scripts.is_empty()
    }

    /// Call after anything that may have changed what is drawn or awaited on wires.
    #[inline(always)]
    pub(super) fn reschedule_partners(&mut self) {
        if !self.is_alone() {
            self.reschedule(PARTNERS);
        }
    }

    pub(super) fn next_of_partners(&self) -> Option<u64> {
        let buses = self.partners.buses.iter();
        let buses = buses.filter_map(|attached| self.logic.wires(attached.source));
        let scripts = self.partners.scripts.iter().map(|(_, wires)| wires);
        buses.chain(scripts).filter_map(Wires::next_event).min()
    }

    /// Does what partners do up to a cycle, and what becomes of levels.
    #[cold]
    pub(super) fn run_partners(&mut self, cycle: u64) {
        for n in 0..self.partners.buses.len() {
            let source = self.partners.buses[n].source;
            let said = self
                .logic
                .wires_mut(source)
                .map(|wires| wires.advance(cycle));
            let (FIRST_USART..FLASH, Some(said)) = (source, said) else {
                continue;
            };
            let usart = &mut self.logic.usarts[source - FIRST_USART];
            let hears = usart.wires.carries(RX) && usart.arriving.len() < MOST_WAITING;
            if !said.is_empty() && hears {
                usart.receive(&said, cycle);
                self.reschedule(source);
            }
        }
        for (_, wires) in &mut self.partners.scripts {
            wires.advance(cycle);
        }
        self.drive_pins(cycle);
    }

    /// Call after pins were switched to other functions.
    #[cold]
    pub(super) fn partners_moved(&mut self, cycle: u64) {
        for n in 0..self.partners.buses.len() {
            let attached = &self.partners.buses[n];
            let source = attached.source;
            let pins = attached.pins.iter().filter(|pin| self.carries(pin));
            let carried = pins.fold(0, |all, pin| all | 1 << pin.wire);
            if let Some(wires) = self.logic.wires_mut(source) {
                wires.set_carried(carried);
            }
        }
        self.drive_pins(cycle);
        self.reschedule(PARTNERS);
    }

    /// Whether a pin carries its wire now.
    fn carries(&self, pin: &BusPin) -> bool {
        let place = (
            usize::from(pin.pin.port),
            pin.pin.number.into(),
            pin.function,
        );
        match pin.is_output {
            true => self.may_send_at(place),
            false => self.has_function(place),
        }
    }

    /// Gives the pins the levels of their wires. A chip select is pulled up, as on most boards.
    fn drive_pins(&mut self, cycle: u64) {
        let mut outside = [Levels::default(); PORTS.len()];
        let mut drive = |pin: Pin, high: bool| {
            let port = &mut outside[usize::from(pin.port) % PORTS.len()];
            port.driven |= 1 << (pin.number & 0xF);
            port.high |= u32::from(high) << (pin.number & 0xF);
        };
        for select in &self.partners.selects {
            drive(select.pin, true);
        }
        for attached in &self.partners.buses {
            let levels = self.logic.wires(attached.source).map_or(!0, Wires::levels);
            for pin in attached.pins.iter().filter(|pin| self.carries(pin)) {
                drive(pin.pin, levels >> pin.wire & 1 != 0);
            }
        }
        for (pin, wires) in &self.partners.scripts {
            if wires.carries(1) {
                drive(*pin, wires.levels() & 1 != 0);
            }
        }
        for (port, outside) in outside.into_iter().enumerate() {
            if self.logic.ports[port].drive_from_outside(outside) {
                self.port_changed(port, cycle);
            }
        }
    }

    /// Chip selects have changed.
    #[cold]
    pub(super) fn selects_changed(&mut self, port: usize, changed: u32, cycle: u64) {
        for n in 0..self.partners.selects.len() {
            let Select {
                pin,
                source,
                device,
            } = self.partners.selects[n];
            if usize::from(pin.port) == port && changed >> pin.number & 1 != 0 {
                let selected = self.levels[port].high >> pin.number & 1 == 0;
                if let Some(wires) = self.logic.wires_mut(source) {
                    wires.select(device, selected, cycle);
                }
            }
        }
    }

    pub(super) fn clock_scripts(&mut self, now: u64) {
        for (_, wires) in &mut self.partners.scripts {
            wires.set_clock(self.logic.clocks.core, now);
        }
    }
}
