//! What real tools connect to over TCP. On the loopback interface only.

pub mod beaglelogic;
pub mod probe;
