//! The table with the devices, plugged in or not, and the socket by which a program asks for faults.

use crate::faults::{Faults, Unplugged};
use crate::serial_port::Socket;
use crate::stlink;
use crate::usb::{Bus, Plug};
use anyhow::{Context, Result};
use serde_json::json;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

/// The control socket's name in the folder.
pub const CONTROL: &str = "control";
/// The devices, at the ports of the bus from 1 on.
const NAMES: [&str; 2] = ["analyzer", "probe"];

/// Clones are the same table.
#[derive(Clone)]
pub struct Table {
    pub bus: Bus,
    /// Devices that are not plugged in, with their ports.
    unplugged: Arc<Mutex<Vec<(u8, Plug)>>>,
    faults: Faults,
    socket: Arc<Mutex<Socket>>,
}

impl Table {
    /// Plugs the analyzer and the probe in.
    pub fn lay(bus: Bus, devices: [Plug; 2], faults: Faults, socket: Socket) -> Result<Table> {
        for (port, plug) in (1..).zip(devices) {
            bus.plug(port, plug)?;
        }
        Ok(Table {
            bus,
            unplugged: Arc::default(),
            faults,
            socket: Arc::new(Mutex::new(socket)),
        })
    }

    /// Unplugs and plugs in what a fault tells to, when its moment comes.
    pub fn carry_out(&self, unplugged: Receiver<Unplugged>) {
        let table = self.clone();
        thread::spawn(move || {
            for (name, back_as) in unplugged {
                let gone = table.unplug(name);
                if let (Ok(()), Some(back_as)) = (gone, back_as) {
                    if let Err(why) = table.plug(name, Some(&back_as)) {
                        eprintln!("virtual-nucleo: {why}");
                    }
                }
            }
        });
    }

    pub fn listen(&self) -> Result<UnixListener> {
        UnixListener::bind(self.bus.folder().join(CONTROL))
            .context("cannot make the control socket in the folder")
    }

    /// Answers each line of each client by one line.
    pub fn serve(&self, listener: UnixListener) {
        let table = self.clone();
        thread::spawn(move || {
            for socket in listener.incoming().flatten() {
                let table = table.clone();
                thread::spawn(move || table.converse(&socket));
            }
        });
    }

    fn converse(&self, mut socket: &UnixStream) -> Option<()> {
        for line in BufReader::new(socket).lines() {
            let answer = match self.obey(line.ok()?.trim()) {
                Ok(()) => json!({ "done": true }),
                Err(why) => json!({ "error": why }),
            };
            writeln!(socket, "{answer}").ok()?;
        }
        None
    }

    pub fn obey(&self, line: &str) -> Result<(), String> {
        match line.split(' ').collect::<Vec<_>>()[..] {
            [name, "unplug"] => self.unplug(name),
            [name, "plug"] => self.plug(name, None),
            ["probe", "plug", "as", name] if stlink::may_be_called(name) => {
                self.plug("probe", Some(name))
            }
            _ => self.faults.plan(line).ok_or_else(|| {
                format!("{line:?} is no request: virtual-desk --help has all of them")
            }),
        }
    }

    fn unplug(&self, name: &str) -> Result<(), String> {
        let port = port(name)?;
        let mut plug = self.bus.unplug(port).ok_or("it is not plugged in")?;
        if let Some((_, terminal)) = &mut plug.tty {
            let mut socket = self.socket.lock().unwrap_or_else(PoisonError::into_inner);
            *terminal = socket.replug().map_err(|error| format!("{error:#}"))?;
        }
        self.unplugged().push((port, plug));
        Ok(())
    }

    /// Plugs a device in again, under another USB id, or its serial port under another name.
    fn plug(&self, name: &str, called: Option<&str>) -> Result<(), String> {
        let port = port(name)?;
        let mut unplugged = self.unplugged();
        let place = unplugged.iter().position(|(known, _)| *known == port);
        let (_, mut plug) = unplugged.remove(place.ok_or("it is plugged in")?);
        if let Some(product) = called.and_then(stlink::product_of) {
            plug.device.set_product(product);
        } else if let (Some(called), Some((tty, _))) = (called, &mut plug.tty) {
            *tty = called.into();
        }
        self.bus
            .plug(port, plug)
            .map_err(|error| format!("{error:#}"))
    }

    fn unplugged(&self) -> MutexGuard<'_, Vec<(u8, Plug)>> {
        self.unplugged
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where the device of this name is plugged in.
fn port(name: &str) -> Result<u8, String> {
    let mut ports = (1..).zip(NAMES);
    let port = ports.find(|(_, known)| *known == name);
    port.map(|(port, _)| port)
        .ok_or_else(|| format!("there is no {name:?}: write analyzer or probe"))
}

#[cfg(test)]
mod tests;
