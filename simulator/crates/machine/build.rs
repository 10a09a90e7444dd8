//! Gives snapshots the fingerprint of the sources. Only the build that saved a snapshot may
//! continue it.

use std::fs;
use std::hash::Hasher;
use std::path::{Path, PathBuf};

fn main() {
    let mut files = Vec::new();
    for folder in ["../cortex-m/src", "../stm32/src", "../stm32/chips", "src"] {
        println!("cargo::rerun-if-changed={folder}");
        collect(Path::new(folder), &mut files);
    }
    files.sort();
    // SipHash with fixed keys: equal sources give equal fingerprints.
    #[allow(deprecated)]
    let mut hasher = std::hash::SipHasher::new();
    for file in &files {
        hasher.write(file.to_string_lossy().as_bytes());
        hasher.write(&fs::read(file).expect("a source file can be read"));
    }
    println!(
        "cargo::rustc-env=SOURCE_FINGERPRINT={:016x}",
        hasher.finish()
    );
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the folder of sources can be read") {
        let path = entry.expect("the folder of sources can be read").path();
        if path.is_dir() {
            collect(&path, files);
        } else if path
            .extension()
            .is_some_and(|extension| extension == "rs" || extension == "toml")
        {
            files.push(path);
        }
    }
}
