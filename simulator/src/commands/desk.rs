//! `--usb`: what stands on the desk beside the board, as USB devices in a folder.

use crate::debug::Wire;
use crate::servers::stlink::{Serial, StLink};
use crate::servers::usb::{Bus, Plug, Waker};
use anyhow::Result;
use clap::Args;
use std::path::PathBuf;

/// The probe's port on the root hub.
const STLINK_PORT: u8 = 1;
const STLINK_TTY: &str = "ttyACM0";

#[derive(Args)]
pub struct DeskArguments {
    /// Show an ST-Link V2-1 as a USB device in this empty folder, for programs that umockdev's
    /// preload library redirects there. It is wired to the core and to the serial port.
    #[arg(long, value_name = "FOLDER")]
    usb: Option<PathBuf>,
    /// Each name gives the ST-Link another serial number.
    #[arg(long, value_name = "NAME", default_value = "desk", requires = "usb")]
    desk: String,
}

/// The devices that are plugged in.
pub struct Desk {
    /// They are served as long as this is there.
    _bus: Bus,
    /// 24 hexadecimal digits.
    pub stlink: String,
}

impl DeskArguments {
    pub fn is_asked_for(&self) -> bool {
        self.usb.is_some()
    }

    /// Plugs in the devices, if any are asked for. `terminal` is the serial port's.
    pub fn plug(&self, wire: &Wire, terminal: &str) -> Result<Option<Desk>> {
        let Some(folder) = &self.usb else {
            return Ok(None);
        };
        let bus = Bus::create(folder)?;
        let serial = Serial::of_desk(&self.desk);
        let stlink = serial.digits().to_owned();
        let is_terminal = terminal.starts_with("/dev/");
        bus.plug(
            STLINK_PORT,
            Plug {
                device: Box::new(StLink::new(wire.clone(), serial)),
                waker: Waker::default(),
                tty: is_terminal.then(|| (STLINK_TTY.into(), terminal.into())),
            },
        )?;
        Ok(Some(Desk { _bus: bus, stlink }))
    }
}
