use clap::Parser;
use std::process::ExitCode;
use virtual_nucleo::commands::{self, Arguments};

fn main() -> ExitCode {
    commands::execute(Arguments::parse())
}
