//! All integration tests in one program. A file of its own would be linked with the whole library
//! once more.

mod busy_wait;
mod core;
mod elf;
mod hostile;
mod idle;
mod latency;
mod manners;
mod masks;
mod observe;
mod partners;
mod peripherals;
mod profile;
mod programs;
mod run;
mod serve;
mod snapshot;
mod support;

use std::fs;
use std::path::Path;

#[test]
fn every_file_here_is_part_of_it() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests");
    for file in fs::read_dir(folder).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        if let Some(module) = name.strip_suffix(".rs").filter(|&name| name != "all") {
            assert!(
                include_str!("all.rs").contains(&format!("\nmod {module};\n")),
                "all.rs leaves out {name}"
            );
        }
    }
}
