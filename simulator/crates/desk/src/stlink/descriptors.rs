//! What the probe says of itself on USB. Interfaces and their order as Linux lists them of a real
//! one (`:ffffff:080650:020201:0a0000:` and ttyACM on interface 2); endpoints of interface 0 as
//! pyOCD's `probe/stlink/usb.py` has them. The other endpoints are ours.

use super::VENDOR;
use crate::usb::{Descriptors, Setup, Speed};

const PORT_CONTROL_INTERFACE: u8 = 2;

/// The configuration and all that follows it (USB 2.0, tables 9-10, 9-12 and 9-13): interfaces with
/// their endpoints of 64 bytes. The last number of an interface is that of its string.
const CONFIGURATION: [u8; 128] = [
    9, 2, 128, 0, 4, 1, 0, 0x80, 50, // 4 interfaces, powered by the bus, up to 100 mA
    9, 4, 0, 0, 3, 0xFF, 0xFF, 0xFF, 4, // debug: bulk
    7, 5, 0x81, 2, 64, 0, 0, //
    7, 5, 0x01, 2, 64, 0, 0, //
    7, 5, 0x82, 2, 64, 0, 0, //
    9, 4, 1, 0, 2, 8, 6, 0x50, 5, // mass storage: bulk
    7, 5, 0x83, 2, 64, 0, 0, //
    7, 5, 0x03, 2, 64, 0, 0, //
    8, 11, 2, 2, 2, 2, 1, 6, // the next two belong together (engineering change of 2003)
    9, 4, 2, 0, 1, 2, 2, 1, 6, // serial port, control: interrupt each 255 ms
    5, 0x24, 0, 0x10, 0x01, // CDC 1.10 (USB CDC 1.2, 5.2.3): header,
    5, 0x24, 1, 0, 3, // call management,
    4, 0x24, 2, 6, // abstract control,
    5, 0x24, 6, 2, 3, // and union
    7, 5, 0x84, 3, 64, 0, 255, //
    9, 4, 3, 0, 2, 10, 0, 0, 7, // serial port, data: bulk
    7, 5, 0x85, 2, 64, 0, 0, //
    7, 5, 0x05, 2, 64, 0, 0,
];

/// The probe's serial number: 24 hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Serial(String);

impl Serial {
    /// That of the probe on the desk of this name: always the same, and another one for another
    /// name.
    pub fn of_desk(name: &str) -> Serial {
        // The FNV-1a hash of 64 bits (Fowler, Noll, Vo).
        let hash = name.bytes().fold(0xCBF2_9CE4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3)
        });
        Serial(format!("7A115C0E{hash:016X}"))
    }

    pub fn digits(&self) -> &str {
        &self.0
    }
}

pub fn of(serial: &Serial, product: u16) -> Descriptors {
    let strings = [
        "STMicroelectronics",
        "STM32 STLink",
        serial.digits(),
        "ST-Link Debug",
        "ST-Link Mass Storage",
        "ST-Link VCP Ctrl",
        "ST-Link VCP Data",
    ];
    let ([v0, v1], [p0, p1]) = (VENDOR.to_le_bytes(), product.to_le_bytes());
    Descriptors {
        // USB 2.0, table 9-8: version 1.00 of a device whose class its interfaces tell.
        device: [
            18, 1, 0x00, 0x02, 0xEF, 2, 1, 64, v0, v1, p0, p1, 0x00, 0x01, 1, 2, 3, 1,
        ],
        configuration: CONFIGURATION.to_vec(),
        strings: strings.map(String::from).to_vec(),
        speed: Speed::Full,
    }
}

/// SET_LINE_CODING, SET_CONTROL_LINE_STATE and SEND_BREAK of the serial port (USB PSTN 1.2, 6.3).
pub fn is_serial_setting(setup: &Setup) -> bool {
    setup.request_type == 0x21
        && setup.index == u16::from(PORT_CONTROL_INTERFACE)
        && matches!(setup.request, 0x20 | 0x22 | 0x23)
}
