//! Raw files placed at an address, as `FILE@0xADDRESS`: for example the operation image.

use std::path::PathBuf;
use std::str::FromStr;
use thiserror::Error;

/// A file and where it goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageArgument {
    pub path: PathBuf,
    pub address: u32,
}

#[derive(Debug, Error, PartialEq, Eq)]
pub enum ImageArgumentError {
    #[error("no address: write FILE@0xADDRESS, for example operations.bin@0x08040000")]
    NoAddress,
    #[error("{0:?} is not a hexadecimal address: write FILE@0xADDRESS, for example operations.bin@0x08040000")]
    BadAddress(String),
}

impl FromStr for ImageArgument {
    type Err = ImageArgumentError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (path, address) = text.rsplit_once('@').ok_or(ImageArgumentError::NoAddress)?;
        if path.is_empty() {
            return Err(ImageArgumentError::NoAddress);
        }
        Ok(ImageArgument {
            path: path.into(),
            address: parse_hexadecimal(address)
                .ok_or_else(|| ImageArgumentError::BadAddress(address.into()))?,
        })
    }
}

/// Parses `0x1F` and nothing else.
pub fn parse_hexadecimal(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("0x")?;
    if digits.starts_with('+') {
        return None;
    }
    u32::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_at_sign_separates() {
        let image: ImageArgument = "runs/a@b/operations.bin@0x08040000".parse().unwrap();
        assert_eq!(image.path, PathBuf::from("runs/a@b/operations.bin"));
        assert_eq!(image.address, 0x0804_0000);
    }

    #[test]
    fn other_forms_are_refused() {
        for text in ["ops.bin", "@0x08040000"] {
            assert_eq!(
                text.parse::<ImageArgument>(),
                Err(ImageArgumentError::NoAddress)
            );
        }
        for text in [
            "ops.bin@",
            "ops.bin@123",
            "ops.bin@0x",
            "ops.bin@0x+1",
            "ops.bin@0x123456789",
        ] {
            assert!(matches!(
                text.parse::<ImageArgument>(),
                Err(ImageArgumentError::BadAddress(_))
            ));
        }
    }
}
