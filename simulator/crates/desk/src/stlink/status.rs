//! Status codes of answers (pyOCD, `probe/stlink/constants.py`; OpenOCD, `stlink_usb.c`).

use machine::debug_port::Failure;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Status {
    Ok = 0x80,
    /// What the command asks for is not possible now or at all.
    CommandError = 0x08,
    /// No debug port answers.
    NoIdcode = 0x09,
    /// An address or a length is no multiple of the transfer's size.
    Misaligned = 0x0A,
    /// The access port answers WAIT.
    ApWait = 0x10,
    /// The access port says that an access failed. OpenOCD's source: reading outside RAM does so.
    ApFault = 0x11,
    /// The debug port does not answer.
    DpError = 0x16,
    /// An earlier access failed, and its sticky error is not cleared.
    ApSticky = 0x19,
    NoSuchAp = 0x1D,
    NoTrace = 0x20,
    UnknownCommand = 0x42,
}

impl Status {
    /// As it is transmitted.
    pub fn bytes(self) -> [u8; 2] {
        [self as u8, 0]
    }
}

impl From<Failure> for Status {
    fn from(failure: Failure) -> Status {
        match failure {
            Failure::Transfer(_) => Status::ApFault,
            Failure::Asleep => Status::ApWait,
            Failure::Sticky => Status::ApSticky,
            Failure::Stopped(_) => Status::DpError,
        }
    }
}
