//! Memory through the access port, as a probe reaches it: CSW, TAR and then DRW (IHI 0031, C2.2).

use super::status::Status;
use cortex_m::bus::Width;
use machine::debug_port::{Failure, Request, Target};

const CSW: u32 = 0x00;
const TAR: u32 = 0x04;
const DRW: u32 = 0x0C;
/// TAR's low bits alone are incremented.
const INCREMENT_RANGE: u32 = 0x400;
const INCREMENT_SINGLE: u32 = 1 << 4;
/// HPROT and MasterType as after power-up. Without them the command gives its own.
const CSW_USUAL: u32 = 0x2300_0000;

/// In one command. Transfers by bytes go in one packet.
const MOST_BYTES: u16 = 6144;
const MOST_BYTES_BY_BYTE: u16 = 64;

/// Memory that a command reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    pub address: u32,
    pub bytes: u16,
    pub width: Width,
    pub port: u8,
    /// CSW's bits 31:8, or 0 for the usual ones.
    pub csw: u32,
    /// The address stays as it is.
    pub fixed: bool,
}

impl Block {
    /// Whether the probe can transfer it.
    pub fn check(&self) -> Result<(), Status> {
        let size = self.width.bytes();
        if self.address % size != 0 || u32::from(self.bytes) % size != 0 {
            return Err(Status::Misaligned);
        }
        let most = match self.width {
            Width::Byte => MOST_BYTES_BY_BYTE,
            _ => MOST_BYTES,
        };
        (self.bytes <= most)
            .then_some(())
            .ok_or(Status::CommandError)
    }
}

/// What a block holds.
pub fn read(target: &mut dyn Target, block: &Block) -> Result<Vec<u8>, Failure> {
    let size = block.width.bytes();
    let mut requests = vec![control(block)];
    for piece in pieces(block) {
        requests.push(write_register(block, TAR, piece.address));
        requests.push(Request::ReadAccessPort {
            register: register(block, DRW),
            count: (piece.bytes / size) as usize,
        });
    }
    let values = target.ask(Request::InOrder(requests))?.values();
    Ok(values
        .into_iter()
        .zip(addresses(block))
        .flat_map(|(value, address)| {
            let lanes = value >> lane_shift(address, block.width);
            lanes.to_le_bytes().into_iter().take(size as usize)
        })
        .collect())
}

/// Writes what a block shall hold. `data` has its length.
pub fn write(target: &mut dyn Target, block: &Block, data: &[u8]) -> Result<(), Failure> {
    let size = block.width.bytes() as usize;
    let mut values = data
        .chunks(size)
        .zip(addresses(block))
        .map(|(bytes, address)| {
            let value = bytes
                .iter()
                .rev()
                .fold(0, |all, &byte| all << 8 | u32::from(byte));
            value << lane_shift(address, block.width)
        });
    let mut requests = vec![control(block)];
    for piece in pieces(block) {
        requests.push(write_register(block, TAR, piece.address));
        requests.push(Request::WriteAccessPort {
            register: register(block, DRW),
            values: values.by_ref().take(piece.bytes as usize / size).collect(),
        });
    }
    target.ask(Request::InOrder(requests)).map(drop)
}

/// Where the last transfer failed: TAR is incremented behind a good one alone.
pub fn fault_address(target: &mut dyn Target, block: &Block) -> u32 {
    let request = Request::ReadAccessPort {
        register: register(block, TAR),
        count: 1,
    };
    let values = target
        .ask(request)
        .map_or(Vec::new(), |answer| answer.values());
    values.first().copied().unwrap_or(block.address)
}

struct Piece {
    address: u32,
    bytes: u32,
}

/// Parts that TAR is incremented within.
fn pieces(block: &Block) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let (mut address, mut left) = (block.address, u32::from(block.bytes));
    while left > 0 {
        let room = if block.fixed {
            left
        } else {
            INCREMENT_RANGE - address % INCREMENT_RANGE
        };
        let bytes = left.min(room);
        pieces.push(Piece { address, bytes });
        address = address.wrapping_add(bytes);
        left -= bytes;
    }
    pieces
}

/// The address of each transfer.
fn addresses(block: &Block) -> impl Iterator<Item = u32> {
    let step = if block.fixed { 0 } else { block.width.bytes() };
    std::iter::successors(Some(block.address), move |address| {
        Some(address.wrapping_add(step))
    })
}

/// Narrow data is in the byte lanes of its address (IHI 0031, C2.2.6).
fn lane_shift(address: u32, width: Width) -> u32 {
    match width {
        Width::Word => 0,
        Width::Byte | Width::Half => address % 4 * 8,
    }
}

fn control(block: &Block) -> Request {
    let increment = if block.fixed { 0 } else { INCREMENT_SINGLE };
    let protection = if block.csw == 0 { CSW_USUAL } else { block.csw };
    let size = match block.width {
        Width::Byte => 0,
        Width::Half => 1,
        Width::Word => 2,
    };
    write_register(block, CSW, protection | increment | size)
}

fn write_register(block: &Block, address: u32, value: u32) -> Request {
    Request::WriteAccessPort {
        register: register(block, address),
        values: vec![value],
    }
}

fn register(block: &Block, address: u32) -> u32 {
    u32::from(block.port) << 24 | address
}
