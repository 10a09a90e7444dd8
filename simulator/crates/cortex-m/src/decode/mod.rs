//! Decoding: turns an opcode into an [`Op`], by tables of patterns (DDI 0403E, A5 and A7).
//!
//! Each group of instructions has its rows in a file. The first row that matches wins, so special
//! cases stand above the general one: `Rd` = 15 is a comparison, `Ra` = 15 a plain multiply.

mod branch;
mod data_processing;
mod fast_forms;
mod float;
mod instruction_sets;
mod media;
mod memory;
mod multiple;
mod multiply;
mod op;
mod row;
mod system;
mod tables;
mod unpredictable;

pub use instruction_sets::{decode_for, encodings_of, unpredictable_on};
pub use op::*;
pub use tables::{encoding_name, encodings, is_wide, Encoding};
pub use unpredictable::misplaced_in_it;
