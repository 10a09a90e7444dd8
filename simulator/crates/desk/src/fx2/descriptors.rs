//! Descriptors of FX2 analyzers: those of fx2lafw (its `dscr.a51`), and how to find them in an
//! image of that firmware.

use super::super::usb::{Descriptors, Speed};

const DEVICE: u8 = 1;
const CONFIGURATION: u8 = 2;
const STRING: u8 = 3;
const DEVICE_BYTES: usize = 18;

/// One vendor interface with the endpoint of the samples: bulk, 512 bytes.
const FIRMWARE_CONFIGURATION: [u8; 25] = [
    9, 2, 25, 0, 1, 1, 0, 0x80, 50, // bus-powered, 100 mA
    9, 4, 0, 0, 1, 0xFF, 0xFF, 0xFF, 0, //
    7, 5, 0x82, 2, 0x00, 0x02, 0,
];

/// 1d50:608c with 8 channels, 1d50:608d with 16.
pub fn sigrok(sixteen: bool) -> Descriptors {
    let (product, name) = match sixteen {
        false => (0x608C, "sigrok FX2 8ch"),
        true => (0x608D, "sigrok FX2 16ch"),
    };
    Descriptors {
        device: device(0x1D50, product, [1, 2, 3]),
        configuration: FIRMWARE_CONFIGURATION.to_vec(),
        strings: ["sigrok", "fx2lafw", name].map(String::from).to_vec(),
        speed: Speed::High,
    }
}

/// An analyzer as it is plugged in, without firmware and strings: Saleae Logic's 0925:3881, or
/// Cypress's own 04b4:8613, which sigrok takes for one with 16 channels.
pub fn bare(sixteen: bool) -> Descriptors {
    let (vendor, product) = match sixteen {
        false => (0x0925, 0x3881),
        true => (0x04B4, 0x8613),
    };
    Descriptors {
        device: device(vendor, product, [0, 0, 0]),
        configuration: vec![
            9, 2, 18, 0, 1, 1, 0, 0x80, 50, //
            9, 4, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0,
        ],
        strings: Vec::new(),
        speed: Speed::High,
    }
}

/// USB 2.0, vendor class, 64 bytes at endpoint 0. `strings`: manufacturer, product, serial number.
fn device(vendor: u16, product: u16, strings: [u8; 3]) -> [u8; DEVICE_BYTES] {
    let ([v0, v1], [p0, p1]) = (vendor.to_le_bytes(), product.to_le_bytes());
    let [manufacturer, name, serial] = strings;
    [
        18,
        DEVICE,
        0x00,
        0x02,
        0xFF,
        0xFF,
        0xFF,
        64,
        v0,
        v1,
        p0,
        p1,
        0x01,
        0x00,
        manufacturer,
        name,
        serial,
        1,
    ]
}

/// The descriptors in an FX2's memory: a device descriptor, and behind it configurations and
/// strings. None if there are none: then the firmware does not come to the bus.
pub fn in_memory(memory: &[u8]) -> Option<Descriptors> {
    let start = memory
        .windows(DEVICE_BYTES)
        .position(|window| window[..4] == [18, DEVICE, 0, 2] && window[7] == 64)?;
    let mut found = Descriptors {
        device: memory[start..start + DEVICE_BYTES].try_into().ok()?,
        configuration: Vec::new(),
        strings: Vec::new(),
        speed: Speed::High,
    };
    let mut rest = &memory[start + DEVICE_BYTES..];
    while let &[length, kind, ..] = rest {
        if length < 2 {
            // The FX2 wants descriptors at even addresses: one of odd length has a byte behind it.
            let odd = (memory.len() - rest.len()) % 2 != 0;
            if !odd {
                break;
            }
            rest = &rest[1..];
            continue;
        }
        let whole = match kind {
            CONFIGURATION => usize::from(u16::from_le_bytes([*rest.get(2)?, *rest.get(3)?])),
            _ => usize::from(length),
        };
        if whole < usize::from(length) || whole > rest.len() {
            break;
        }
        match kind {
            CONFIGURATION if found.configuration.is_empty() => {
                found.configuration = rest[..whole].to_vec();
            }
            STRING => found.strings.push(text(&rest[2..whole])),
            _ => {}
        }
        rest = &rest[whole..];
    }
    if found.configuration.len() < 9 || found.strings.is_empty() {
        return None;
    }
    found.strings.remove(0); // the languages
    Some(found)
}

fn text(bytes: &[u8]) -> String {
    let units: Vec<u16> = bytes
        .chunks_exact(2)
        .map(|unit| u16::from_le_bytes([unit[0], unit[1]]))
        .collect();
    String::from_utf16_lossy(&units)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptors_are_found_in_a_firmware_image() {
        let expected = sigrok(true);
        let mut memory = vec![0; 0x1E00];
        memory.extend(expected.device);
        memory.extend([10, 6, 0, 2, 0xFF, 0xFF, 0xFF, 64, 1, 0]);
        memory.extend(&expected.configuration);
        memory.push(0); // to an even address
        memory.extend([4, STRING, 0x09, 0x04]);
        for text in &expected.strings {
            memory.extend([2 + 2 * text.len() as u8, STRING]);
            memory.extend(text.encode_utf16().flat_map(u16::to_le_bytes));
        }
        memory.resize(0x4000, 0);
        assert_eq!(in_memory(&memory), Some(expected));
    }

    #[test]
    fn memory_without_descriptors_is_no_device() {
        assert_eq!(in_memory(&[0; 0x4000]), None);
        let mut memory = vec![0; 64];
        memory.extend(sigrok(false).device);
        assert_eq!(in_memory(&memory), None);
    }
}
