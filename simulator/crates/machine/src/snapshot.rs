//! The whole machine at one moment, in memory and as a file.
//!
//! A snapshot contains the machine's own structures. A field that is added to one of them is in the
//! snapshot, or the code does not compile. A saved run continues to the byte: edges, UART, cycles.
//!
//! A file is little-endian. It consists of the magic `TAILSNAP`, a version (u32), the fingerprint
//! of the simulator's sources (16 ASCII digits), the length of the payload (u64), its CRC-32 (u32),
//! and the payload. Postcard encodes the payload without names or types. Another build would read
//! other fields from the same bytes, hence the fingerprint.

use crate::Machine;
use thiserror::Error;

const MAGIC: &[u8; 8] = b"TAILSNAP";
const VERSION: u32 = 2;
const FINGERPRINT: &str = env!("SOURCE_FINGERPRINT");
const FINGERPRINT_BYTES: usize = 16;

#[derive(Debug, Error, PartialEq, Eq)]
pub enum SnapshotError {
    #[error("not a snapshot: save one with --save-snapshot")]
    NotASnapshot,
    #[error(
        "a snapshot of version {0}, where this simulator reads version {VERSION}: save it again"
    )]
    Version(u32),
    #[error("saved by another build of the simulator: save it again with this one")]
    OtherBuild,
    #[error("the snapshot is truncated or has bytes too many: save it again")]
    Length,
    #[error("the snapshot is damaged (its checksum does not match): save it again")]
    Checksum,
    #[error("the snapshot's content is no machine: {0}")]
    Content(String),
}

/// A machine that stands still.
#[derive(Clone)]
pub struct Snapshot(Box<Machine>);

impl Snapshot {
    /// The whole machine. Its timers are brought up to date first: when they last were depends on
    /// how many iterations of a busy wait were skipped, and a snapshot must not.
    pub fn of(machine: &Machine) -> Snapshot {
        let mut machine = Box::new(machine.clone());
        machine.bring_timers_up_to_date();
        Snapshot(machine)
    }

    /// A machine that continues from here. Any number of them may, independently of each other.
    pub fn fork(&self) -> Machine {
        (*self.0).clone()
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        let payload = self.to_payload();
        [
            &MAGIC[..],
            &VERSION.to_le_bytes(),
            FINGERPRINT.as_bytes(),
            &(payload.len() as u64).to_le_bytes(),
            &crc32fast::hash(&payload).to_le_bytes(),
            &payload,
        ]
        .concat()
    }

    pub fn from_bytes(bytes: &[u8]) -> Result<Snapshot, SnapshotError> {
        let mut rest = bytes;
        if take::<8>(&mut rest).as_ref() != Some(MAGIC) {
            return Err(SnapshotError::NotASnapshot);
        }
        let version = u32::from_le_bytes(take(&mut rest).ok_or(SnapshotError::Length)?);
        if version != VERSION {
            return Err(SnapshotError::Version(version));
        }
        let fingerprint = take::<FINGERPRINT_BYTES>(&mut rest).ok_or(SnapshotError::Length)?;
        if fingerprint != FINGERPRINT.as_bytes() {
            return Err(SnapshotError::OtherBuild);
        }
        let length = u64::from_le_bytes(take(&mut rest).ok_or(SnapshotError::Length)?);
        let checksum = u32::from_le_bytes(take(&mut rest).ok_or(SnapshotError::Length)?);
        if rest.len() as u64 != length {
            return Err(SnapshotError::Length);
        }
        if crc32fast::hash(rest) != checksum {
            return Err(SnapshotError::Checksum);
        }
        Snapshot::from_payload(rest)
    }

    /// The part of the file that the checksum covers.
    pub fn to_payload(&self) -> Vec<u8> {
        postcard::to_allocvec(&*self.0).expect("every field has an encoding")
    }

    /// Reads the part of the file that the checksum covers.
    pub fn from_payload(payload: &[u8]) -> Result<Snapshot, SnapshotError> {
        let content = |why: String| SnapshotError::Content(why);
        let (mut machine, rest): (Machine, _) =
            postcard::take_from_bytes(payload).map_err(|error| content(error.to_string()))?;
        if !rest.is_empty() {
            return Err(content(format!("{} bytes too many", rest.len())));
        }
        machine.rebuild_derived();
        Ok(Snapshot(Box::new(machine)))
    }
}

fn take<const COUNT: usize>(bytes: &mut &[u8]) -> Option<[u8; COUNT]> {
    let (head, tail) = bytes.split_first_chunk()?;
    *bytes = tail;
    Some(*head)
}
