//! What hangs where: `i2c1=eeprom.toml`, `spi1:pa4=sensor.toml`, `usart1=modem.toml`, `pa0=edges.csv`.

use super::{edges, eeprom, replies, sensor, Bus, Fault, Partner};
use crate::edges::Pin;
use crate::text_file::{content, toml_place};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::str::FromStr;

/// A file for a partner is smaller.
const MOST_BYTES: u64 = 16 << 20;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A peripheral by its name, and the pin that selects the device, if it is on SPI.
    Bus(String, Bus, Option<Pin>),
    Pin(Pin),
}

/// What hangs on wires.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Device {
    Eeprom(eeprom::Eeprom),
    Registers(sensor::Sensor),
    Replies(replies::Replies),
    Edges(edges::Edges),
}

impl Device {
    pub fn partner(&self) -> &dyn Partner {
        match self {
            Device::Eeprom(device) => device,
            Device::Registers(device) => device,
            Device::Replies(device) => device,
            Device::Edges(device) => device,
        }
    }

    pub fn partner_mut(&mut self) -> &mut dyn Partner {
        match self {
            Device::Eeprom(device) => device,
            Device::Registers(device) => device,
            Device::Replies(device) => device,
            Device::Edges(device) => device,
        }
    }
}

/// A kind of device: its word in a file, what it hangs on, and what reads the file.
struct Kind {
    name: &'static str,
    buses: &'static [Bus],
    read: fn(&str, Bus) -> Result<Device, Fault>,
}

const KINDS: [Kind; 3] = [
    Kind {
        name: "eeprom",
        buses: &[Bus::I2c],
        read: |text, _| Ok(Device::Eeprom(eeprom::read(text)?)),
    },
    Kind {
        name: "registers",
        buses: &[Bus::I2c, Bus::Spi],
        read: |text, bus| Ok(Device::Registers(sensor::read(text, bus)?)),
    },
    Kind {
        name: "replies",
        buses: &[Bus::Uart],
        read: |text, _| Ok(Device::Replies(replies::read(text)?)),
    },
];

/// A device, and where it hangs.
#[derive(Clone, Debug)]
pub struct Attachment {
    pub place: Place,
    pub device: Device,
}

impl FromStr for Place {
    type Err = String;

    fn from_str(text: &str) -> Result<Place, String> {
        let upper = text.to_ascii_uppercase();
        let (name, select) = match upper.split_once(':') {
            Some((name, select)) => (name, Some(select)),
            None => (upper.as_str(), None),
        };
        let bus = match name.trim_end_matches(|c: char| c.is_ascii_digit()) {
            "I2C" => Bus::I2c,
            "SPI" => Bus::Spi,
            "USART" | "UART" => Bus::Uart,
            _ => {
                let pin = upper.parse().map_err(|_| {
                    format!(
                        "{text:?} is no place: write i2c1, spi1:pa4, usart1 or a pin such as pa0"
                    )
                })?;
                return Ok(Place::Pin(pin));
            }
        };
        match (bus, select) {
            (Bus::Spi, Some(pin)) => {
                let pin = pin
                    .parse()
                    .map_err(|_| format!("{pin:?} is no pin: write PA0 to PI15"))?;
                Ok(Place::Bus(name.into(), bus, Some(pin)))
            }
            (Bus::Spi, None) => Err(format!(
                "{text} lacks the pin that selects the device: write {text}:pa4"
            )),
            (_, Some(_)) => Err(format!(
                "{text}: only a device on SPI has a pin that selects it"
            )),
            (_, None) => Ok(Place::Bus(name.into(), bus, None)),
        }
    }
}

impl FromStr for Attachment {
    type Err = String;

    /// Reads the file, too. The error is a sentence that names it, the key and what to do.
    fn from_str(text: &str) -> Result<Attachment, String> {
        let (place, file) = text.split_once('=').ok_or_else(|| {
            format!("{text:?} is no attachment: write WHERE=FILE, as i2c1=eeprom.toml")
        })?;
        let place: Place = place.parse()?;
        let path = Path::new(file);
        let content = content(path, "a description of a partner", MOST_BYTES)
            .map_err(|why| format!("{file}: {why}"))?;
        let device = device(&place, &content).map_err(|why| format!("{file}{why}"))?;
        Ok(Attachment { place, device })
    }
}

/// The first key of a file.
#[derive(Deserialize)]
struct Word {
    kind: String,
}

/// The device that a file describes. The error begins with `:LINE: ` or `: `.
pub fn device(place: &Place, text: &str) -> Result<Device, String> {
    let bus = match place {
        Place::Pin(_) => return edges::read(text).map(Device::Edges),
        Place::Bus(_, bus, _) => *bus,
    };
    let said = |fault: Fault| match fault {
        Fault::Toml(error) => toml_place(text, &error),
        Fault::Key(why) => format!(": {why}"),
    };
    let word: Word = toml::from_str(text).map_err(|error| said(error.into()))?;
    let names = |on_bus: bool| {
        let kinds = KINDS
            .iter()
            .filter(|kind| !on_bus || kind.buses.contains(&bus));
        kinds.map(|kind| kind.name).collect::<Vec<_>>().join(" or ")
    };
    let kind = KINDS
        .iter()
        .find(|kind| kind.name == word.kind)
        .ok_or_else(|| {
            format!(
                ": kind = {:?} is not modelled: write {}",
                word.kind,
                names(false)
            )
        })?;
    if !kind.buses.contains(&bus) {
        return Err(format!(
            ": kind = {:?} does not hang there: write {}",
            word.kind,
            names(true)
        ));
    }
    (kind.read)(text, bus).map_err(said)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    const EEPROM: &str = include_str!("../../../../../docs/examples/partners/eeprom.toml");
    const SENSOR: &str = include_str!("../../../../../docs/examples/partners/sensor.toml");
    const MODEM: &str = include_str!("../../../../../docs/examples/partners/modem.toml");
    const EDGES: &str = include_str!("../../../../../docs/examples/partners/edges.csv");

    fn why(place: &str, text: &str) -> String {
        device(&place.parse().unwrap(), text).unwrap_err()
    }

    #[test]
    fn a_bad_file_is_told_by_its_line_or_key() {
        for (place, text, from, to, told) in [
            (
                "i2c1",
                EEPROM,
                "page_bytes",
                "pages",
                ":6: unknown field `pages`",
            ),
            (
                "i2c1",
                EEPROM,
                "= 0x50",
                "= 0xA0",
                ": address = 0xa0 is not 0x08 to 0x77",
            ),
            (
                "i2c1",
                EEPROM,
                "bytes = 4096",
                "bytes = 4095",
                ": bytes = 4095 is no power of two",
            ),
            (
                "i2c1",
                EEPROM,
                "eeprom",
                "flash",
                ": kind = \"flash\" is not modelled",
            ),
            (
                "usart1",
                EEPROM,
                "",
                "",
                ": kind = \"eeprom\" does not hang there: write replies",
            ),
            ("i2c1", SENSOR, "address", "#", ": address is missing"),
            (
                "i2c1",
                SENSOR,
                "at = 0xD0",
                "at = 0xF4",
                ": registers: at = 0xf4 is there twice",
            ),
            ("usart1", MODEM, "to = ", "at = ", ":"),
            (
                "pa0",
                EDGES,
                "time_us",
                "us",
                ":1: the first line is not time_us,level",
            ),
            ("pa0", EDGES, ",1", ",2", ":2: level is neither 0 nor 1"),
        ] {
            assert!(text.contains(from), "{from}");
            let why = why(place, &text.replacen(from, to, 1));
            assert!(
                why.starts_with(told) && !why.contains('\n'),
                "{from} -> {to}: {why}"
            );
        }
        for place in ["i2c", "spi1", "i2c1:pa0", "pj0", ""] {
            assert!(
                place.parse::<Place>().is_err() == (place != "i2c"),
                "{place}"
            );
        }
    }

    /// Words and numbers are changed at random. What is taken is a device that takes and sends anything.
    #[test]
    fn no_file_panics() {
        let mut random = Random(1);
        let (mut taken, mut refused) = (0, 0);
        let numbers = [
            "0",
            "1",
            "-1",
            "255",
            "0x80",
            "65536",
            "9223372036854775807",
            "true",
            "[]",
        ];
        for (place, text) in [
            ("i2c1", EEPROM),
            ("i2c1", SENSOR),
            ("spi1:pa4", SENSOR),
            ("usart1", MODEM),
            ("pa0", EDGES),
        ] {
            let place: Place = place.parse().unwrap();
            let tokens: Vec<&str> = text.split_inclusive([' ', '\n', ',']).collect();
            for _ in 0..400 {
                let mut tokens = tokens.clone();
                let at = random.below(tokens.len() as u32) as usize;
                match random.below(3) {
                    0 => tokens[at] = numbers[random.below(numbers.len() as u32) as usize],
                    1 => tokens[at] = tokens[random.below(tokens.len() as u32) as usize],
                    _ => drop(tokens.remove(at)),
                }
                let Ok(mut device) = device(&place, &tokens.concat()) else {
                    refused += 1;
                    continue;
                };
                taken += 1;
                let partner = device.partner_mut();
                let mut now_ns = 0;
                for _ in 0..100 {
                    now_ns += u64::from(random.below(1 << 20));
                    let byte = random.below(256) as u8;
                    match random.below(6) {
                        0 => _ = partner.addressed(byte >> 1, now_ns),
                        1 => partner.selected(now_ns),
                        2 => _ = partner.sends(now_ns),
                        3 => partner.released(now_ns),
                        4 => _ = partner.act(now_ns),
                        _ => _ = partner.takes(byte, now_ns),
                    }
                }
            }
        }
        assert!(taken > 300 && refused > 300, "{taken} {refused}");
    }
}
