//! The bus in a folder, laid out as umockdev's preload library redirects `/sys` and `/dev` there.

use super::client::Client;
use super::device::{Device, Waker};
use super::node::Node;
use super::port::Port;
use super::root_hub::RootHub;
use super::sysfs::{Entry, Place, USB_MAJOR};
use super::udev;
use anyhow::{bail, Context, Result};
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// A socket's path has 108 bytes with its end (`sockaddr_un`), and the longest of ours is this.
const LONGEST_FOLDER: usize = 107 - "/ioctl/dev/bus/usb/001/255".len();

/// USB 2.0, 9.4.6.
const HIGHEST_NUMBER: u64 = 127;

/// A device that can be plugged in, with what belongs to it.
pub struct Plug {
    pub device: Box<dyn Device>,
    pub waker: Waker,
    /// The name of its serial port, and the terminal behind it: `ttyACM0`, `/dev/pts/4`.
    pub tty: Option<(String, String)>,
}

struct Plugged {
    port: Port,
    place: Place,
    waker: Waker,
    tty: Option<(String, String)>,
    socket: PathBuf,
    _entry: Entry,
}

struct Inner {
    folder: PathBuf,
    numbers: AtomicU64,
    messages: AtomicU64,
    /// By their ports on the root hub.
    plugged: Mutex<Vec<Plugged>>,
}

/// Clones are the same bus.
#[derive(Clone)]
pub struct Bus {
    inner: Arc<Inner>,
}

impl Bus {
    /// A bus with nothing but its root hub, in an empty folder.
    pub fn create(folder: &Path) -> Result<Bus> {
        let folder = folder
            .canonicalize()
            .with_context(|| format!("there is no folder {}", folder.display()))?;
        let length = folder.as_os_str().len();
        if length > LONGEST_FOLDER {
            bail!(
                "the path {} has {length} characters, and its sockets need one of at most \
                 {LONGEST_FOLDER}: choose a folder nearer to the root",
                folder.display()
            );
        }
        for name in [
            "dev/bus/usb/001",
            "dev/.node",
            "ioctl/dev/bus/usb/001",
            "sys/class/tty",
            // There is no disk. pyOCD looks for the probe's if it cannot ask the probe itself.
            "sys/class/block",
            "dev/disk/by-id",
        ] {
            fs::create_dir_all(folder.join(name))
                .with_context(|| format!("cannot make {name} in {}", folder.display()))?;
        }
        let bus = Bus {
            inner: Arc::new(Inner {
                folder,
                numbers: AtomicU64::new(0),
                messages: AtomicU64::new(0),
                plugged: Mutex::new(Vec::new()),
            }),
        };
        bus.serve_other_files()?;
        bus.plug(
            0,
            Plug {
                device: Box::new(RootHub::default()),
                waker: Waker::default(),
                tty: None,
            },
        )?;
        Ok(bus)
    }

    pub fn folder(&self) -> &Path {
        &self.inner.folder
    }

    /// Plugs a device into a port of the root hub, and tells whoever watches.
    pub fn plug(&self, port: u8, plug: Plug) -> Result<()> {
        let place = Place {
            port,
            number: self.free_number(),
        };
        let plugged = self.lay_out(place, plug).with_context(|| {
            format!("cannot lay out a USB device in {}", self.folder().display())
        })?;
        self.plugged().push(plugged);
        self.announce("add", place);
        Ok(())
    }

    /// The number after the last one that nothing plugged in has. Like the kernel's it goes on from 1.
    fn free_number(&self) -> u8 {
        let plugged = self.plugged();
        loop {
            let before = self.inner.numbers.fetch_add(1, Ordering::SeqCst);
            let number = (before % HIGHEST_NUMBER) as u8 + 1;
            if plugged.iter().all(|other| other.place.number != number) {
                return number;
            }
        }
    }

    /// Takes out what is plugged into a port. None if nothing is.
    pub fn unplug(&self, port: u8) -> Option<Plug> {
        let plugged = {
            let mut all = self.plugged();
            let index = all.iter().position(|plugged| plugged.place.port == port)?;
            all.remove(index)
        };
        let device = plugged.port.unplug();
        let _ = fs::remove_file(&plugged.socket);
        if let Some((name, _)) = &plugged.tty {
            let _ = fs::remove_file(self.folder().join("dev").join(name));
        }
        let Plugged {
            place, waker, tty, ..
        } = plugged; // and its files are gone
        self.announce("remove", place);
        Some(Plug {
            device: device?,
            waker,
            tty,
        })
    }

    fn lay_out(&self, place: Place, plug: Plug) -> Result<Plugged> {
        let folder = self.folder();
        let tty = plug.tty.as_ref().map(|(name, _)| name.as_str());
        let entry = Entry::create(folder, place, plug.device.descriptors(), tty)?;
        if let Some((name, terminal)) = &plug.tty {
            symlink(terminal, folder.join("dev").join(name))?;
        }
        let node = Node::create(&folder.join("dev").join(place.node()))?;
        let socket = folder.join("ioctl/dev").join(place.node());
        let listener = listen(&socket)?;
        let port = Port::new(plug.device, node, plug.waker.clone());
        let (bus, served) = (self.clone(), port.clone());
        thread::spawn(move || bus.serve(&listener, &served, place));
        Ok(Plugged {
            port,
            place,
            waker: plug.waker,
            tty: plug.tty,
            socket,
            _entry: entry,
        })
    }

    /// Gives each program that opens the node a thread.
    fn serve(&self, listener: &UnixListener, port: &Port, place: Place) {
        for socket in listener.incoming().flatten() {
            let (bus, port) = (self.clone(), port.clone());
            thread::spawn(move || {
                port.converse(Client::new(socket), |device| bus.renumerate(place, device));
            });
        }
    }

    /// The device at `place` comes back as another one, at the same port.
    fn renumerate(&self, place: Place, device: Box<dyn Device>) {
        let Some(Plug { waker, tty, .. }) = self.forget(place) else {
            return; // it has been unplugged meanwhile
        };
        if let Err(error) = self.plug(place.port, Plug { device, waker, tty }) {
            eprintln!("virtual-nucleo: {error:#}");
        }
    }

    fn forget(&self, place: Place) -> Option<Plug> {
        let plugged = {
            let mut all = self.plugged();
            let index = all.iter().position(|plugged| plugged.place == place)?;
            all.remove(index)
        };
        let _ = fs::remove_file(&plugged.socket);
        let Plugged { waker, tty, .. } = plugged;
        self.announce("remove", place);
        Some(Plug {
            device: Box::new(RootHub::default()),
            waker,
            tty,
        })
    }

    /// Everything else that a program opens below `/dev`, terminals above all, is the kernel's.
    fn serve_other_files(&self) -> Result<()> {
        let listener = listen(&self.folder().join("ioctl/_default"))
            .context("cannot make a socket in the folder")?;
        thread::spawn(move || {
            for socket in listener.incoming().flatten() {
                thread::spawn(move || {
                    let mut client = Client::new(socket);
                    while client.next().is_some() && client.make_real_call().is_ok() {}
                });
            }
        });
        Ok(())
    }

    fn announce(&self, action: &str, place: Place) {
        let sequence = self.inner.messages.fetch_add(1, Ordering::SeqCst) + 1;
        let properties = [
            ("ACTION", action.into()),
            ("DEVPATH", place.device_path()),
            ("SUBSYSTEM", "usb".into()),
            ("DEVNAME", format!("/dev/{}", place.node())),
            ("DEVTYPE", "usb_device".into()),
            ("BUSNUM", "001".into()),
            ("DEVNUM", format!("{:03}", place.number)),
            ("MAJOR", USB_MAJOR.to_string()),
            ("MINOR", place.minor().to_string()),
            ("SEQNUM", sequence.to_string()),
        ];
        udev::send(self.folder(), "usb", Some("usb_device"), &properties);
    }

    fn plugged(&self) -> std::sync::MutexGuard<'_, Vec<Plugged>> {
        self.inner
            .plugged
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

fn listen(path: &Path) -> io::Result<UnixListener> {
    UnixListener::bind(path)
}
