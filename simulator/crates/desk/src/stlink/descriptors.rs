//! What the probe says of itself on USB. Interfaces and their order as Linux lists them of a real
//! one (`:ffffff:080650:020201:0a0000:` and ttyACM on interface 2); endpoints of interface 0 as
//! pyOCD's `probe/stlink/usb.py` has them. The other endpoints are ours.

use super::VENDOR;
use crate::usb::{Descriptors, Setup, Speed};

const DEVICE: u8 = 1;
const CONFIGURATION: u8 = 2;
const INTERFACE: u8 = 4;
const ENDPOINT: u8 = 5;
const ASSOCIATION: u8 = 11;
const CLASS_SPECIFIC: u8 = 0x24;

const MISCELLANEOUS: [u8; 3] = [0xEF, 2, 1];
const VENDOR_SPECIFIC: [u8; 3] = [0xFF, 0xFF, 0xFF];
const MASS_STORAGE: [u8; 3] = [8, 6, 0x50];
const SERIAL_CONTROL: [u8; 3] = [2, 2, 1];
const SERIAL_DATA: [u8; 3] = [10, 0, 0];

const BULK: u8 = 2;
const INTERRUPT: u8 = 3;
const PACKET_BYTES: u8 = 64;

/// Numbers of the strings.
const MANUFACTURER: u8 = 1;
const PRODUCT_NAME: u8 = 2;
const SERIAL_NUMBER: u8 = 3;
const DEBUG_NAME: u8 = 4;
const STORAGE_NAME: u8 = 5;
const PORT_CONTROL_NAME: u8 = 6;
const PORT_DATA_NAME: u8 = 7;

pub const PORT_CONTROL_INTERFACE: u8 = 2;

/// The probe's serial number: 24 hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Serial(String);

impl Serial {
    /// That of the probe on the desk of this name: always the same, and another one for another
    /// name.
    pub fn of_desk(name: &str) -> Serial {
        Serial(format!("7A115C0E{:016X}", fnv1a(name.as_bytes())))
    }

    pub fn digits(&self) -> &str {
        &self.0
    }
}

/// The FNV-1a hash of 64 bits (Fowler, Noll, Vo).
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xCBF2_9CE4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3)
    })
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
    Descriptors {
        device: device(product),
        configuration: configuration(),
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

/// USB 2.0, table 9-8.
fn device(product: u16) -> [u8; 18] {
    let [vendor_low, vendor_high] = VENDOR.to_le_bytes();
    let [product_low, product_high] = product.to_le_bytes();
    let [class, subclass, protocol] = MISCELLANEOUS;
    [
        18,
        DEVICE,
        0x00,
        0x02, // USB 2.0
        class,
        subclass,
        protocol,
        PACKET_BYTES,
        vendor_low,
        vendor_high,
        product_low,
        product_high,
        0x00,
        0x01, // version 1.00
        MANUFACTURER,
        PRODUCT_NAME,
        SERIAL_NUMBER,
        1,
    ]
}

/// USB 2.0, table 9-10, and all that follows it.
fn configuration() -> Vec<u8> {
    let body = [
        interface(
            0,
            VENDOR_SPECIFIC,
            DEBUG_NAME,
            &[(0x81, BULK), (0x01, BULK), (0x82, BULK)],
        ),
        interface(1, MASS_STORAGE, STORAGE_NAME, &[(0x83, BULK), (0x03, BULK)]),
        association(PORT_CONTROL_INTERFACE, 2, SERIAL_CONTROL, PORT_CONTROL_NAME),
        interface_with(
            PORT_CONTROL_INTERFACE,
            SERIAL_CONTROL,
            PORT_CONTROL_NAME,
            &serial_functions(),
            &[(0x84, INTERRUPT)],
        ),
        interface(
            3,
            SERIAL_DATA,
            PORT_DATA_NAME,
            &[(0x85, BULK), (0x05, BULK)],
        ),
    ]
    .concat();
    let [low, high] = (9 + body.len() as u16).to_le_bytes();
    // Configuration 1 of 4 interfaces, powered by the bus, up to 100 mA.
    let mut all = vec![9, CONFIGURATION, low, high, 4, 1, 0, 0x80, 50];
    all.extend(body);
    all
}

/// USB 2.0, table 9-12, with its endpoints.
fn interface(number: u8, class: [u8; 3], name: u8, endpoints: &[(u8, u8)]) -> Vec<u8> {
    interface_with(number, class, name, &[], endpoints)
}

fn interface_with(
    number: u8,
    [class, subclass, protocol]: [u8; 3],
    name: u8,
    functions: &[u8],
    endpoints: &[(u8, u8)],
) -> Vec<u8> {
    let count = endpoints.len() as u8;
    let mut all = vec![
        9, INTERFACE, number, 0, count, class, subclass, protocol, name,
    ];
    all.extend(functions);
    for &(address, kind) in endpoints {
        let interval_ms = if kind == INTERRUPT { 255 } else { 0 };
        all.extend([7, ENDPOINT, address, kind, PACKET_BYTES, 0, interval_ms]);
    }
    all
}

/// Interface Association Descriptor (USB 2.0 engineering change of 2003).
fn association(first: u8, count: u8, [class, subclass, protocol]: [u8; 3], name: u8) -> Vec<u8> {
    vec![
        8,
        ASSOCIATION,
        first,
        count,
        class,
        subclass,
        protocol,
        name,
    ]
}

/// Header, call management, abstract control and union (USB CDC 1.2, 5.2.3).
fn serial_functions() -> Vec<u8> {
    let header = [5, CLASS_SPECIFIC, 0, 0x10, 0x01];
    let calls = [5, CLASS_SPECIFIC, 1, 0, PORT_CONTROL_INTERFACE + 1];
    let control = [4, CLASS_SPECIFIC, 2, 6];
    let union = [
        5,
        CLASS_SPECIFIC,
        6,
        PORT_CONTROL_INTERFACE,
        PORT_CONTROL_INTERFACE + 1,
    ];
    [&header[..], &calls, &control, &union].concat()
}
