//! Drives the entries of the fuzz targets with a seeded mutator over their corpora: a fixed number
//! of cases, the same ones every time. `cargo fuzz` (simulator/fuzz) looks further with the same
//! entries.

#[path = "../fuzz/src/entries.rs"]
mod entries;

use crate::support::random::Random;

use std::fs;
use std::path::PathBuf;

/// Bytes and words with which arithmetic often goes wrong.
const EDGES: [u32; 9] = [
    0,
    1,
    0x7F,
    0xFF,
    0x7FFF_FFFF,
    0x8000_0000,
    u32::MAX,
    0x0808_0000,
    0x2001_8000,
];
const LONGEST_BYTES: usize = 8_192;

/// A number below the bound, or 0.
fn below(random: &mut Random, bound: usize) -> usize {
    random.below(bound.max(1) as u32) as usize
}

/// Changes one place of `data`.
fn mutate(data: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    let place = below(random, data.len());
    match random.below(7) {
        0 if !data.is_empty() => data[place] ^= 1 << random.below(8),
        1 if !data.is_empty() => data[place] = random.next() as u8,
        2 => {
            let word = EDGES[below(random, EDGES.len())].to_le_bytes();
            let end = data.len().min(place + 4);
            let count = end - place;
            data[place..end].copy_from_slice(&word[..count]);
        }
        3 => data.insert(place, random.next() as u8),
        4 => {
            let end = data.len().min(place + 1 + below(random, 16));
            data.drain(place..end);
        }
        5 => {
            let start = below(random, other.len());
            let end = other.len().min(start + below(random, 64));
            data.splice(place..place, other[start..end].iter().copied());
        }
        _ => data.truncate(place.max(data.len() / 2)),
    }
    data.truncate(LONGEST_BYTES);
}

fn corpus(target: &str) -> Vec<Vec<u8>> {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../fuzz/corpus")
        .join(format!("{target}.hex"));
    let text = fs::read_to_string(file).unwrap();
    let byte = |line: &str, at| u8::from_str_radix(&line[at..at + 2], 16).unwrap();
    let bytes = |line: &str| {
        (0..line.len())
            .step_by(2)
            .map(|at| byte(line, at))
            .collect()
    };
    text.lines().map(bytes).collect()
}

fn drive(target: &str, cases: usize) {
    let (_, entry) = entries::ALL
        .into_iter()
        .find(|(name, _)| *name == target)
        .unwrap();
    let corpus = corpus(target);
    assert!(corpus.len() >= 2, "{target} needs something to start from");
    corpus.iter().for_each(|data| entry(data));
    let mut random = Random(0x7A11_5C0F);
    let mut data = Vec::new();
    for case in 0..cases {
        if case % 8 == 0 {
            data.clone_from(&corpus[below(&mut random, corpus.len())]);
        }
        let other = &corpus[below(&mut random, corpus.len())];
        for _ in 0..=random.below(4) {
            mutate(&mut data, other, &mut random);
        }
        entry(&data);
    }
}

#[test]
fn every_target_has_its_test() {
    let tested = [
        "elf", "image", "code", "bus", "snapshot", "analyzer", "uart", "probe",
    ];
    assert_eq!(entries::ALL.map(|(name, _)| name), tested);
    let fuzz = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    let manifest = fs::read_to_string(fuzz.join("Cargo.toml")).unwrap();
    for name in tested {
        let target = format!("targets/{name}.rs");
        assert!(manifest.contains(&format!("path = \"{target}\"")), "{name}");
        let driver = fs::read_to_string(fuzz.join(target)).unwrap();
        assert!(driver.contains(&format!("entries::{name}(data)")), "{name}");
    }
}

#[test]
fn elf() {
    drive("elf", 2_000);
}

#[test]
fn image() {
    drive("image", 2_000);
}

#[test]
fn code() {
    drive("code", 2_000);
}

#[test]
fn bus() {
    drive("bus", 2_000);
}

#[test]
fn snapshot() {
    drive("snapshot", 500);
}

#[test]
fn analyzer() {
    drive("analyzer", 20_000);
}

#[test]
fn uart() {
    drive("uart", 2_000);
}

#[test]
fn probe() {
    drive("probe", 3_000);
}
