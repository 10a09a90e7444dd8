//! An EEPROM of the 24Cxx kind: one or two bytes of address, pages, and a time in which it writes and
//! answers nobody (AT24C256 datasheet, "Device operation", "Write operations", "Read operations").

use super::{check_address, must, Fault, Partner};
use serde::{Deserialize, Serialize};

const MOST_BYTES: usize = 1 << 19;
const MOST_PAGE_BYTES: usize = 256;
const MOST_WRITE_MS: u64 = 1_000;
const NS_PER_MS: u64 = 1_000_000;
const ERASED: u8 = 0xFF;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "kind")]
    _kind: String,
    address: u8,
    bytes: usize,
    #[serde(default = "one")]
    address_bytes: usize,
    page_bytes: usize,
    #[serde(default = "usual_write_ms")]
    write_ms: u64,
    #[serde(default = "erased")]
    fill: u8,
    #[serde(default)]
    content: Vec<Content>,
}

/// Bytes that it holds from the start.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Content {
    at: usize,
    bytes: Vec<u8>,
}

fn one() -> usize {
    1
}

fn usual_write_ms() -> u64 {
    5
}

fn erased() -> u8 {
    ERASED
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Eeprom {
    address: u8,
    address_bytes: usize,
    page_bytes: usize,
    write_ns: u64,
    #[serde(with = "serde_bytes")]
    memory: Vec<u8>,
    /// Where it reads or writes next.
    place: usize,
    /// Bytes of the place that the chip has sent since the START.
    place_bytes: usize,
    /// What the chip has sent since, to be written at the STOP: its place and value.
    pending: Vec<(usize, u8)>,
    busy_until_ns: u64,
}

pub(super) fn read(text: &str) -> Result<Eeprom, Fault> {
    let file: File = toml::from_str(text)?;
    must(matches!(file.address_bytes, 1 | 2), || {
        format!("address_bytes = {} is neither 1 nor 2", file.address_bytes)
    })?;
    must(
        file.bytes.is_power_of_two() && (16..=MOST_BYTES).contains(&file.bytes),
        || {
            format!(
                "bytes = {} is no power of two from 16 to {MOST_BYTES}",
                file.bytes
            )
        },
    )?;
    must(
        file.page_bytes.is_power_of_two() && file.page_bytes <= file.bytes.min(MOST_PAGE_BYTES),
        || {
            format!(
                "page_bytes = {} is no power of two up to {MOST_PAGE_BYTES} that fits into bytes",
                file.page_bytes
            )
        },
    )?;
    must(file.write_ms <= MOST_WRITE_MS, || {
        format!("write_ms = {} is more than {MOST_WRITE_MS}", file.write_ms)
    })?;
    let blocks = file.bytes.div_ceil(1 << (8 * file.address_bytes));
    must(blocks <= 8, || {
        format!("bytes = {} needs address_bytes = 2", file.bytes)
    })?;
    check_address(file.address, file.address.saturating_add(blocks as u8 - 1))?;
    let mut memory = vec![file.fill; file.bytes];
    for content in &file.content {
        let end = content.at.saturating_add(content.bytes.len());
        let place = memory.get_mut(content.at..end).ok_or_else(|| {
            Fault::Key(format!(
                "content: at = {} and its bytes end beyond bytes",
                content.at
            ))
        })?;
        place.copy_from_slice(&content.bytes);
    }
    Ok(Eeprom {
        address: file.address,
        address_bytes: file.address_bytes,
        page_bytes: file.page_bytes,
        write_ns: file.write_ms * NS_PER_MS,
        memory,
        place: 0,
        place_bytes: 0,
        pending: Vec::new(),
        busy_until_ns: 0,
    })
}

impl Eeprom {
    /// Bytes that one of its addresses reaches: larger ones have several.
    fn block_bytes(&self) -> usize {
        1 << (8 * self.address_bytes.min(2))
    }
}

impl Partner for Eeprom {
    fn addressed(&mut self, address: u8, now_ns: u64) -> bool {
        let block = usize::from(address).wrapping_sub(self.address.into());
        let blocks = self.memory.len().div_ceil(self.block_bytes());
        if block >= blocks || now_ns < self.busy_until_ns {
            return false;
        }
        self.place = self.place % self.block_bytes() + block * self.block_bytes();
        self.place_bytes = 0;
        self.pending.clear();
        true
    }

    fn sends(&mut self, _: u64) -> u8 {
        let byte = self.memory.get(self.place).copied();
        self.place = (self.place + 1) % self.memory.len().max(1);
        byte.unwrap_or(ERASED)
    }

    /// First its place, the high byte before the low one; then bytes, which stay in the page.
    fn takes(&mut self, byte: u8, _: u64) -> bool {
        if self.place_bytes < self.address_bytes {
            let block = self.place / self.block_bytes() * self.block_bytes();
            let within = self.place << 8 | usize::from(byte);
            self.place = block + within % self.block_bytes();
            self.place %= self.memory.len().max(1);
            self.place_bytes += 1;
            return true;
        }
        if self.pending.len() == self.page_bytes {
            self.pending.remove(0);
        }
        self.pending.push((self.place, byte));
        let page = self.place & !(self.page_bytes.wrapping_sub(1));
        self.place = page | (self.place + 1) & self.page_bytes.wrapping_sub(1);
        true
    }

    fn released(&mut self, now_ns: u64) {
        if self.pending.is_empty() {
            return;
        }
        for (place, byte) in std::mem::take(&mut self.pending) {
            if let Some(cell) = self.memory.get_mut(place) {
                *cell = byte;
            }
        }
        self.busy_until_ns = now_ns.saturating_add(self.write_ns);
    }
}
