//! What tells one line of chips from another: a record each, with its registers' tables. Peripherals are
//! given its facts as they are made, and know no line by name.

pub mod f0;
pub mod f1;
pub mod f4;
pub mod g0;
pub mod g4;
pub mod l4;
pub mod record;

use crate::chip::Family;
use record::FamilyFacts;

/// What tells a family from others.
pub fn facts(family: Family) -> &'static FamilyFacts {
    match family {
        Family::F401 => &f4::F401,
        Family::F411 => &f4::F411,
        Family::F407 => &f4::F407,
        Family::F446 => &f4::F446,
        Family::L476 => &l4::L476,
        Family::F103 => &f1::F103,
        Family::F072 => &f0::F072,
        Family::G071 => &g0::G071,
        Family::G474 => &g4::G474,
    }
}
