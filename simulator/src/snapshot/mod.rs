//! The whole machine at an instant, in memory and as a file.
//!
//! A snapshot is the machine's own structures, so that a new field is in it, or does not compile.

mod registers;
