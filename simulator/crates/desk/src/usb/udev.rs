//! udev's messages to programs that watch for devices: libudev's header, then properties (systemd,
//! `src/libsystemd/sd-device/device-monitor.c`). umockdev's preload library binds a program's
//! socket for them at `event*` in the testbed's folder.

use std::fs;
use std::os::unix::net::UnixDatagram;
use std::path::Path;

const HEADER_BYTES: u32 = 40;
const MAGIC: u32 = 0xfeed_cafe;

/// Sends a message to whoever listens. `properties` in order; a subsystem, and a device type if the
/// device has one.
pub fn send(folder: &Path, subsystem: &str, devtype: Option<&str>, properties: &[(&str, String)]) {
    let message = message(subsystem, devtype, properties);
    let Ok(socket) = UnixDatagram::unbound() else {
        return;
    };
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        if entry.file_name().to_string_lossy().starts_with("event") {
            // Whoever is gone has left its socket behind.
            let _ = socket.send_to(&message, entry.path());
        }
    }
}

fn message(subsystem: &str, devtype: Option<&str>, properties: &[(&str, String)]) -> Vec<u8> {
    let body: Vec<u8> = properties
        .iter()
        .flat_map(|(key, value)| format!("{key}={value}\0").into_bytes())
        .collect();
    let mut message = b"libudev\0".to_vec();
    message.extend(MAGIC.to_be_bytes());
    message.extend(HEADER_BYTES.to_ne_bytes());
    message.extend(HEADER_BYTES.to_ne_bytes()); // where the properties begin
    message.extend((body.len() as u32).to_ne_bytes());
    message.extend(hash(subsystem).to_be_bytes());
    message.extend(devtype.map_or(0, hash).to_be_bytes());
    message.extend([0; 8]); // tags: none
    message.extend(body);
    message
}

/// MurmurHash2 with seed 0 (Austin Appleby), by which programs filter messages.
fn hash(text: &str) -> u32 {
    const FACTOR: u32 = 0x5bd1_e995;
    let mut hash = text.len() as u32;
    let mut words = text.as_bytes().chunks_exact(4);
    for word in &mut words {
        let mut k = u32::from_le_bytes(word.try_into().unwrap_or_default());
        k = k.wrapping_mul(FACTOR);
        k ^= k >> 24;
        hash = hash.wrapping_mul(FACTOR) ^ k.wrapping_mul(FACTOR);
    }
    let rest = words.remainder();
    if !rest.is_empty() {
        for (index, byte) in rest.iter().enumerate() {
            hash ^= u32::from(*byte) << (8 * index);
        }
        hash = hash.wrapping_mul(FACTOR);
    }
    hash ^= hash >> 13;
    hash = hash.wrapping_mul(FACTOR);
    hash ^ hash >> 15
}
