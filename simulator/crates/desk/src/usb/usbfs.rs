//! usbfs as programs see it (Linux, `include/uapi/linux/usbdevice_fs.h` and the driver API's page
//! "The USB character device nodes"): numbers and layouts of a 64-bit machine.

use super::device::{Fault, Setup};
use rustix::io::Errno;

pub const SUBMITURB: u32 = 0x8038_550A;
pub const DISCARDURB: u32 = 0x0000_550B;
pub const REAPURB: u32 = 0x4008_550C;
pub const REAPURBNDELAY: u32 = 0x4008_550D;
pub const SETINTERFACE: u32 = 0x8008_5504;
pub const SETCONFIGURATION: u32 = 0x8004_5505;
pub const GETDRIVER: u32 = 0x4104_5508;
pub const CLAIMINTERFACE: u32 = 0x8004_550F;
pub const RELEASEINTERFACE: u32 = 0x8004_5510;
pub const RESET: u32 = 0x0000_5514;
pub const CLEAR_HALT: u32 = 0x8004_5515;
pub const GET_CAPABILITIES: u32 = 0x8004_551A;
pub const DISCONNECT_CLAIM: u32 = 0x8108_551B;
pub const GET_SPEED: u32 = 0x0000_551F;

/// Zero packets, bulk continuation, no limit of a transfer's size, scatter and gather, and reaping
/// after an unplug. With them libusb makes one URB of each transfer.
pub const CAPABILITIES: u32 = 0x1F;

pub const TYPE_INTERRUPT: u8 = 1;
pub const TYPE_CONTROL: u8 = 2;
pub const TYPE_BULK: u8 = 3;

pub const URB_BYTES: usize = 56;
/// Where `status` and `actual_length` lie in a URB.
pub const URB_STATUS: u64 = 4;
pub const URB_ACTUAL_LENGTH: u64 = 28;
pub const SETUP_BYTES: usize = 8;

/// `struct usbdevfs_urb`, as far as it is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Urb {
    pub kind: u8,
    pub endpoint: u8,
    pub buffer: u64,
    pub length: usize,
}

impl Urb {
    pub fn parse(bytes: &[u8]) -> Option<Urb> {
        let buffer = bytes.get(16..24)?.try_into().ok()?;
        let length = bytes.get(24..28)?.try_into().ok()?;
        Some(Urb {
            kind: bytes[0],
            endpoint: bytes[1],
            buffer: u64::from_ne_bytes(buffer),
            length: usize::try_from(i32::from_ne_bytes(length)).ok()?,
        })
    }
}

/// The set-up packet of a control transfer. Its numbers are little-endian (USB 2.0, 8.1).
pub fn setup(bytes: &[u8; SETUP_BYTES]) -> Setup {
    let half = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
    Setup {
        request_type: bytes[0],
        request: bytes[1],
        value: half(2),
        index: half(4),
        length: half(6),
    }
}

/// The status of a URB that failed (Linux, "USB Error codes").
pub fn status(fault: Fault) -> i32 {
    -match fault {
        Fault::Stall => Errno::PIPE,
        Fault::Protocol => Errno::PROTO,
        Fault::Overflow => Errno::OVERFLOW,
        Fault::Gone => Errno::SHUTDOWN,
    }
    .raw_os_error()
}

/// The status of a URB that the host discarded.
pub fn discarded() -> i32 {
    -Errno::NOENT.raw_os_error()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_urb_is_read_where_the_kernel_has_its_fields() {
        let mut bytes = [0; URB_BYTES];
        bytes[0] = TYPE_BULK;
        bytes[1] = 0x82;
        bytes[16..24].copy_from_slice(&0x7f00_1234_5678u64.to_ne_bytes());
        bytes[24..28].copy_from_slice(&240_128i32.to_ne_bytes());
        let urb = Urb::parse(&bytes).unwrap();
        assert_eq!((urb.kind, urb.endpoint), (TYPE_BULK, 0x82));
        assert_eq!((urb.buffer, urb.length), (0x7f00_1234_5678, 240_128));
        bytes[27] = 0x80;
        assert_eq!(Urb::parse(&bytes), None);
    }
}
