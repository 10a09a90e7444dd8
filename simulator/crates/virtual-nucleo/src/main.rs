use virtual_nucleo::commands::{self, Arguments};
use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    commands::execute(Arguments::parse())
}
