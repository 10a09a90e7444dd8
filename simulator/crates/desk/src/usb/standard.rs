//! Standard requests, which a device's descriptors answer (USB 2.0, 9.4).

use super::device::{Descriptors, Fault, Setup};

const TYPE_MASK: u8 = 0x60;
const GET_STATUS: u8 = 0;
const GET_DESCRIPTOR: u8 = 6;
const GET_CONFIGURATION: u8 = 8;
const GET_INTERFACE: u8 = 10;

const DEVICE: u8 = 1;
const CONFIGURATION: u8 = 2;
const STRING: u8 = 3;
/// US English.
const LANGUAGES: [u8; 4] = [4, STRING, 0x09, 0x04];

/// None: not a standard request.
pub fn answer(descriptors: &Descriptors, setup: Setup) -> Option<Result<Vec<u8>, Fault>> {
    if setup.request_type & TYPE_MASK != 0 {
        return None;
    }
    let reads = setup.request_type & 0x80 != 0;
    Some(match setup.request {
        GET_DESCRIPTOR => descriptor(descriptors, setup.value).ok_or(Fault::Stall),
        GET_STATUS => Ok(vec![0, 0]),
        GET_CONFIGURATION => Ok(vec![descriptors.configuration_value()]),
        GET_INTERFACE => Ok(vec![0]),
        // Configurations and interfaces have one setting each, and features are of no consequence.
        _ if !reads => Ok(Vec::new()),
        _ => Err(Fault::Stall),
    })
}

fn descriptor(descriptors: &Descriptors, value: u16) -> Option<Vec<u8>> {
    let [index, kind] = value.to_le_bytes();
    match (kind, index) {
        (DEVICE, 0) => Some(descriptors.device.to_vec()),
        (CONFIGURATION, 0) => Some(descriptors.configuration.clone()),
        (STRING, 0) => Some(LANGUAGES.to_vec()),
        (STRING, _) => descriptors.string(index).map(string_descriptor),
        _ => None,
    }
}

fn string_descriptor(text: &str) -> Vec<u8> {
    let mut bytes = vec![0, STRING];
    bytes.extend(text.encode_utf16().flat_map(u16::to_le_bytes));
    bytes.truncate(254);
    bytes[0] = bytes.len() as u8;
    bytes
}
