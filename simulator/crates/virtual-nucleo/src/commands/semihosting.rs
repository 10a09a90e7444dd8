//! `--semihosting`: calls of the program to its host by BKPT 0xAB (Arm, "Semihosting for AArch32 and
//! AArch64", release 2.0). The console is there and nothing else: no file of the host can be opened.

use anyhow::{Context, Result};
use cortex_m::bus::Width;
use machine::Machine;
use std::io::{self, Write};

const SYS_OPEN: u32 = 0x01;
const SYS_CLOSE: u32 = 0x02;
const SYS_WRITEC: u32 = 0x03;
const SYS_WRITE0: u32 = 0x04;
const SYS_WRITE: u32 = 0x05;
const SYS_READ: u32 = 0x06;
const SYS_READC: u32 = 0x07;
const SYS_ISERROR: u32 = 0x08;
const SYS_ISTTY: u32 = 0x09;
const SYS_SEEK: u32 = 0x0A;
const SYS_FLEN: u32 = 0x0C;
const SYS_CLOCK: u32 = 0x10;
const SYS_TIME: u32 = 0x11;
const SYS_ERRNO: u32 = 0x13;
const SYS_GET_CMDLINE: u32 = 0x15;
const SYS_HEAPINFO: u32 = 0x16;
const SYS_EXIT: u32 = 0x18;
const SYS_EXIT_EXTENDED: u32 = 0x20;
const SYS_ELAPSED: u32 = 0x30;
const SYS_TICKFREQ: u32 = 0x31;

/// ADP_Stopped_ApplicationExit: the program ended on purpose.
const APPLICATION_EXIT: u32 = 0x2_0026;
const FAILED: u32 = u32::MAX;
/// The features file of the standard, which says that SYS_EXIT_EXTENDED is there and that stdout and
/// stderr are apart.
const FEATURES_NAME: &[u8] = b":semihosting-features";
const FEATURES: [u8; 5] = *b"SHFB\x03";
const CONSOLE_NAME: &[u8] = b":tt";
/// errno of newlib: no such file, and no such handle.
const ENOENT: u32 = 2;
const EBADF: u32 = 9;
/// A string of a program that is longer has no end.
const MOST_BYTES: u32 = 1 << 16;

/// Handles as SYS_OPEN gives them.
const STDIN: u32 = 1;
const STDOUT: u32 = 2;
const STDERR: u32 = 3;
const FEATURES_HANDLE: u32 = 4;

/// Answers the call at which the machine stands, without a console. False if the program ended.
pub fn answer_in_silence(machine: &mut Machine) -> bool {
    matches!(answer(machine, true), Ok(None))
}

/// Answers the call at which the machine stands, and lets it go on behind the BKPT. Some: the program
/// has ended with this exit status. `silent`: what it prints is not shown. Errors are those of
/// standard output.
pub fn answer(machine: &mut Machine, silent: bool) -> Result<Option<u8>> {
    let (operation, argument) = (machine.core().register(0), machine.core().register(1));
    let result = match operation {
        SYS_EXIT => return Ok(Some(exit_status(argument, 0))),
        SYS_EXIT_EXTENDED => {
            let [reason, code] = words(machine, argument);
            return Ok(Some(exit_status(reason, code)));
        }
        SYS_OPEN => open(machine, argument),
        SYS_CLOSE => 0,
        SYS_WRITEC => {
            let byte = bytes(machine, argument, 1);
            write(machine, silent, STDOUT, &byte)?;
            0
        }
        SYS_WRITE0 => {
            let text = text(machine, argument);
            write(machine, silent, STDOUT, &text)?;
            0
        }
        SYS_WRITE => {
            let [handle, address, count] = words(machine, argument);
            let written = bytes(machine, address, count);
            write(machine, silent, handle, &written)?
        }
        SYS_READ => read(machine, argument),
        // Nobody types.
        SYS_READC => FAILED,
        SYS_ISERROR => {
            let [status] = words(machine, argument);
            u32::from((status as i32) < 0)
        }
        SYS_ISTTY => {
            let [handle] = words(machine, argument);
            u32::from((STDIN..=STDERR).contains(&handle))
        }
        SYS_SEEK => {
            let [handle, place] = words(machine, argument);
            seek(machine, handle, place)
        }
        SYS_FLEN => {
            let [handle] = words(machine, argument);
            match handle {
                FEATURES_HANDLE => FEATURES.len() as u32,
                STDIN..=STDERR => 0,
                _ => refuse(machine, EBADF),
            }
        }
        // Hundredths of a second since reset, and whole seconds: the simulated time.
        SYS_CLOCK => elapsed(machine, 100) as u32,
        SYS_TIME => elapsed(machine, 1) as u32,
        SYS_ERRNO => machine.calls.errno,
        SYS_GET_CMDLINE => command_line(machine, argument),
        SYS_HEAPINFO => heap_information(machine, argument),
        SYS_ELAPSED => {
            let cycles = machine.cycles();
            put(machine, argument, cycles as u32);
            put(machine, argument.wrapping_add(4), (cycles >> 32) as u32);
            0
        }
        SYS_TICKFREQ => {
            let (numerator, denominator) = machine.timebase().clock(machine.cycles());
            (numerator / denominator) as u32
        }
        // SYS_REMOVE, SYS_RENAME, SYS_TMPNAM, SYS_SYSTEM: no file and no command.
        _ => refuse(machine, ENOENT),
    };
    let pc = machine.core().pc();
    machine.core_mut().set_register(0, result);
    machine.core_mut().set_register(15, pc.wrapping_add(2));
    Ok(None)
}

fn refuse(machine: &mut Machine, errno: u32) -> u32 {
    machine.calls.errno = errno;
    FAILED
}

/// `:tt` is the console: stdin, stdout or stderr by the mode (5.7 of the standard).
fn open(machine: &mut Machine, argument: u32) -> u32 {
    let [address, mode, length] = words(machine, argument);
    let name = bytes(machine, address, length.min(MOST_BYTES));
    match (name.as_slice(), mode) {
        (FEATURES_NAME, 0 | 1) => {
            machine.calls.features_read = 0;
            FEATURES_HANDLE
        }
        (CONSOLE_NAME, 0..=3) => STDIN,
        (CONSOLE_NAME, 4..=7) => STDOUT,
        (CONSOLE_NAME, 8..=11) => STDERR,
        _ => refuse(machine, ENOENT),
    }
}

/// How many bytes were not written.
fn write(machine: &mut Machine, silent: bool, handle: u32, bytes: &[u8]) -> Result<u32> {
    match handle {
        STDOUT | STDERR if silent => Ok(0),
        STDOUT => {
            let mut stdout = io::stdout().lock();
            stdout
                .write_all(bytes)
                .and_then(|()| stdout.flush())
                .context("cannot write to standard output")?;
            Ok(0)
        }
        STDERR => {
            io::stderr()
                .write_all(bytes)
                .context("cannot write to standard error")?;
            Ok(0)
        }
        _ => {
            machine.calls.errno = EBADF;
            Ok(bytes.len() as u32)
        }
    }
}

/// How many bytes were not read. The console is at its end.
fn read(machine: &mut Machine, argument: u32) -> u32 {
    let [handle, address, count] = words(machine, argument);
    if handle != FEATURES_HANDLE {
        return count;
    }
    let rest = &FEATURES[machine.calls.features_read.min(FEATURES.len())..];
    let taken = rest.len().min(count as usize);
    for (n, byte) in rest[..taken].iter().enumerate() {
        let place = address.wrapping_add(n as u32);
        let _outside = machine.debug_write(place, Width::Byte, (*byte).into());
    }
    machine.calls.features_read += taken;
    count - taken as u32
}

fn seek(machine: &mut Machine, handle: u32, place: u32) -> u32 {
    if handle != FEATURES_HANDLE {
        return refuse(machine, EBADF);
    }
    machine.calls.features_read = place as usize;
    0
}

/// The low byte of the program's code; for any other reason than an exit on purpose, 1.
fn exit_status(reason: u32, code: u32) -> u8 {
    if reason == APPLICATION_EXIT {
        code as u8
    } else {
        1
    }
}

/// Words of the program's memory. Where there is none, zero.
fn words<const COUNT: usize>(machine: &mut Machine, address: u32) -> [u32; COUNT] {
    std::array::from_fn(|n| {
        let place = address.wrapping_add(4 * n as u32);
        machine.debug_read(place, Width::Word).unwrap_or(0)
    })
}

/// Bytes of the program's memory, up to where it ends.
fn bytes(machine: &mut Machine, address: u32, count: u32) -> Vec<u8> {
    (0..count)
        .map_while(|n| {
            let byte = machine.debug_read(address.wrapping_add(n), Width::Byte);
            byte.ok().map(|byte| byte as u8)
        })
        .collect()
}

/// A string of the program, without the zero at its end.
fn text(machine: &mut Machine, address: u32) -> Vec<u8> {
    let text = (0..MOST_BYTES).map_while(|n| {
        let byte = machine.debug_read(address.wrapping_add(n), Width::Byte);
        byte.ok().filter(|byte| *byte != 0).map(|byte| byte as u8)
    });
    text.collect()
}

/// Writes a word for the program. Where there is no memory, nothing changes.
fn put(machine: &mut Machine, address: u32, value: u32) {
    let _outside = machine.debug_write(address, Width::Word, value);
}

/// Simulated time since reset, in parts of a second.
fn elapsed(machine: &Machine, per_second: u128) -> u128 {
    let timebase = machine.timebase();
    let (numerator, denominator) = timebase.seconds(machine.cycles()).fraction();
    numerator * per_second / denominator
}

/// An empty command line, if the program's buffer holds its zero.
fn command_line(machine: &mut Machine, argument: u32) -> u32 {
    let [buffer, size] = words(machine, argument);
    if size == 0 || machine.debug_write(buffer, Width::Byte, 0).is_err() {
        return FAILED;
    }
    put(machine, argument.wrapping_add(4), 0);
    0
}

/// Heap base and limit, stack base and limit. Zeros: the program knows them from its linker (5.6 of
/// the standard).
fn heap_information(machine: &mut Machine, argument: u32) -> u32 {
    let [block] = words(machine, argument);
    for n in 0..4 {
        put(machine, block.wrapping_add(4 * n), 0);
    }
    0
}
