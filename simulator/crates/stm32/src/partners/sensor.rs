//! A device of registers, as most sensors are: the first byte is a register, and what follows writes it
//! and those behind it, or reads them. A register may have other values as time goes on.

use super::{check_address, must, Bus, Fault, Partner, MOST_US, NS_PER_US};
use serde::{Deserialize, Serialize};

const MOST_VALUES: usize = 1 << 16;
/// A register has so many bytes at most.
const MOST_WIDTH: usize = 4;
/// What a register that is not in the file reads.
const NOTHING: u32 = 0;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "kind")]
    _kind: String,
    address: Option<u8>,
    #[serde(default = "one")]
    width: usize,
    #[serde(default)]
    low_byte_first: bool,
    #[serde(default = "yes")]
    increments: bool,
    #[serde(default = "usual_read_mask")]
    read_mask: u8,
    #[serde(default)]
    step_mask: u8,
    #[serde(default)]
    registers: Vec<Row>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    at: u8,
    value: Option<u32>,
    values: Option<Vec<u32>>,
    every_us: Option<u64>,
    #[serde(default)]
    repeats: bool,
    #[serde(default)]
    writable: bool,
}

fn one() -> usize {
    1
}

fn yes() -> bool {
    true
}

fn usual_read_mask() -> u8 {
    0x80
}

/// A register: its values, one after the other.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Register {
    at: u8,
    values: Vec<u32>,
    /// How long it has each; 0 if it has one.
    every_ns: u64,
    repeats: bool,
    writable: bool,
}

impl Register {
    fn value(&self, now_ns: u64) -> u32 {
        let turn = now_ns.checked_div(self.every_ns).unwrap_or(0);
        let count = self.values.len() as u64;
        let place = match self.repeats {
            true => turn % count.max(1),
            false => turn.min(count.saturating_sub(1)),
        };
        self.values.get(place as usize).copied().unwrap_or(NOTHING)
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Sensor {
    /// `None` on SPI.
    address: Option<u8>,
    width: usize,
    low_byte_first: bool,
    increments: bool,
    /// SPI: bits of the first byte that say: read; and: go on to the next register.
    read_mask: u8,
    step_mask: u8,
    registers: Vec<Register>,
    /// The register, and which of its bytes comes next.
    at: u8,
    byte: usize,
    /// What it sends of a register: its value when the first byte left.
    latched: u32,
    /// The chip has said which register.
    is_pointed: bool,
    /// SPI: the chip reads; it steps from register to register.
    reads: bool,
    steps: bool,
}

pub(super) fn read(text: &str, bus: Bus) -> Result<Sensor, Fault> {
    let file: File = toml::from_str(text)?;
    match (bus, file.address) {
        (Bus::I2c, Some(address)) => check_address(address, address)?,
        (Bus::I2c, None) => return Err(Fault::Key("address is missing: I2C needs it".into())),
        _ => {}
    }
    must((1..=MOST_WIDTH).contains(&file.width), || {
        format!("width = {} is not 1 to {MOST_WIDTH} bytes", file.width)
    })?;
    // On SPI the first byte has bits for other things than the register.
    let mask = match bus {
        Bus::Spi => !(file.read_mask | file.step_mask),
        _ => !0,
    };
    let mut registers: Vec<Register> = Vec::new();
    for mut row in file.registers {
        row.at &= mask;
        let at = row.at;
        must(registers.iter().all(|known| known.at != at), || {
            format!("registers: at = {at:#04x} is there twice: leave one")
        })?;
        registers.push(register(row, file.width)?);
    }
    Ok(Sensor {
        address: file.address.filter(|_| bus == Bus::I2c),
        width: file.width,
        low_byte_first: file.low_byte_first,
        increments: file.increments,
        read_mask: file.read_mask,
        step_mask: file.step_mask,
        registers,
        at: 0,
        byte: 0,
        latched: 0,
        is_pointed: false,
        reads: false,
        steps: true,
    })
}

fn register(row: Row, width: usize) -> Result<Register, Fault> {
    let at = row.at;
    let wrong = |why: &str| Fault::Key(format!("registers: at = {at:#04x}: {why}"));
    let (values, every_us) = match (row.value, row.values, row.every_us) {
        (Some(value), None, None) => (vec![value], 0),
        (None, Some(values), Some(every_us)) => (values, every_us),
        _ => return Err(wrong("write either value, or values with every_us")),
    };
    if values.is_empty() || values.len() > MOST_VALUES {
        return Err(wrong("values has none, or more than 65536"));
    }
    if every_us > MOST_US || every_us == 0 && row.every_us.is_some() {
        return Err(wrong("every_us is not 1 to 1000000000000"));
    }
    if values
        .iter()
        .any(|value| u64::from(*value) >> (8 * width) != 0)
    {
        return Err(wrong("a value has more bytes than width"));
    }
    Ok(Register {
        at,
        values,
        every_ns: every_us * NS_PER_US,
        repeats: row.repeats,
        writable: row.writable,
    })
}

impl Sensor {
    /// Bits of the nth byte of a register on the wire.
    fn shift(&self) -> u32 {
        let place = match self.low_byte_first {
            true => self.byte,
            false => self.width.saturating_sub(1 + self.byte),
        };
        8 * (place.min(MOST_WIDTH - 1) as u32)
    }

    /// A byte of the register has passed.
    fn step(&mut self) {
        self.byte += 1;
        if self.byte >= self.width {
            self.byte = 0;
            self.at = self.at.wrapping_add((self.increments && self.steps).into());
        }
    }

    fn register(&mut self) -> Option<&mut Register> {
        let at = self.at;
        self.registers.iter_mut().find(|register| register.at == at)
    }
}

impl Partner for Sensor {
    fn addressed(&mut self, address: u8, _: u64) -> bool {
        self.byte = 0;
        self.is_pointed = false;
        self.address == Some(address)
    }

    fn selected(&mut self, _: u64) {
        self.byte = 0;
        self.is_pointed = false;
        self.reads = false;
    }

    fn sends(&mut self, now_ns: u64) -> u8 {
        if self.address.is_none() && !self.reads {
            return 0xFF;
        }
        if self.byte == 0 {
            self.latched = self.register().map_or(NOTHING, |known| known.value(now_ns));
        }
        let byte = (self.latched >> self.shift()) as u8;
        self.step();
        byte
    }

    fn takes(&mut self, byte: u8, now_ns: u64) -> bool {
        if !self.is_pointed {
            self.is_pointed = true;
            let on_spi = self.address.is_none();
            self.reads = on_spi && byte & self.read_mask != 0;
            self.steps = !on_spi || self.step_mask == 0 || byte & self.step_mask != 0;
            self.at = match on_spi {
                true => byte & !(self.read_mask | self.step_mask),
                false => byte,
            };
            return true;
        }
        if self.reads {
            return true;
        }
        let shift = self.shift();
        if let Some(register) = self.register().filter(|register| register.writable) {
            let kept = register.value(now_ns) & !(0xFF << shift);
            register.values = vec![kept | u32::from(byte) << shift];
            register.every_ns = 0;
        }
        self.step();
        true
    }
}
