//! Fuzz targets of the virtual Nucleo; the same entries run with a seeded mutator in `cargo test` (tests/hostile.rs).

pub mod entries;
