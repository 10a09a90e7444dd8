//! Fuzz targets of the virtual Nucleo. `cargo test` runs the same entries with a seeded mutator
//! (tests/hostile.rs).

pub mod entries;
