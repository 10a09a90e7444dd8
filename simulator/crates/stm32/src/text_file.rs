//! Text files from outside: their content, and where an error is in it.

use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The text of a file that is `what`, of so many bytes at most.
pub fn content(path: &Path, what: &str, most_bytes: u64) -> Result<String, String> {
    let cannot = |error: std::io::Error| format!("cannot read {what}: {error}");
    // A pipe would keep its reader waiting.
    if !path.metadata().map_err(cannot)?.is_file() {
        return Err(format!("{what} is a file, and this is none"));
    }
    let mut text = String::new();
    let mut file = File::open(path).map_err(cannot)?.take(most_bytes + 1);
    file.read_to_string(&mut text).map_err(cannot)?;
    if text.len() as u64 > most_bytes {
        return Err(format!("{what} has {most_bytes} bytes at most"));
    }
    Ok(text)
}

/// An error in a text, which begins with `:LINE: ` or `: `.
pub fn toml_place(text: &str, error: &toml::de::Error) -> String {
    let line = error.span().map(|span| {
        let before = text.get(..span.start).unwrap_or(text);
        before.matches('\n').count() + 1
    });
    let place = line.map_or(String::new(), |line| format!(":{line}"));
    format!("{place}: {}", error.message().replace('\n', " "))
}
