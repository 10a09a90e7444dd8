//! Finds the names that a misspelt name may mean.

const MOST: usize = 3;

/// Up to three names, the nearest first. They differ in a few letters, or the compiler made them
/// longer (`find.constprop.0`).
pub fn near_misses<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Vec<String> {
    let bound = (name.chars().count() / 4).clamp(1, 4);
    let mut near: Vec<(usize, &str)> = known
        .filter(|candidate| !candidate.is_empty())
        .filter_map(|candidate| {
            if candidate.starts_with(name) && !name.is_empty() {
                return Some((0, candidate));
            }
            let distance = edit_distance(name, candidate);
            (distance <= bound).then_some((distance, candidate))
        })
        .collect();
    near.sort_unstable();
    near.dedup();
    near.into_iter()
        .take(MOST)
        .map(|(_, candidate)| candidate.to_owned())
        .collect()
}

/// Levenshtein's distance: how many letters to insert, remove or replace.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, letter) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, other) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != *other);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        for (a, b, distance) in [
            ("", "", 0),
            ("", "abc", 3),
            ("kitten", "sitting", 3),
            ("flaw", "lawn", 2),
        ] {
            assert_eq!(edit_distance(a, b), distance, "{a} {b}");
            assert_eq!(edit_distance(b, a), distance, "{b} {a}");
        }
    }

    #[test]
    fn the_nearest_come_first_and_the_far_do_not_come() {
        let known = [
            "heap_index_find",
            "heap_index_bind",
            "main",
            "heap_find.part.0",
        ];
        let near = |name| near_misses(name, known.into_iter());
        assert_eq!(
            near("heap_index_fin"),
            ["heap_index_find", "heap_index_bind"]
        );
        assert_eq!(near("heap_find"), ["heap_find.part.0"]);
        assert!(near("xyz").is_empty());
    }
}
