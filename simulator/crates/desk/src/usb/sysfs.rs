//! What sysfs says of a device, as files (Linux, `Documentation/ABI/stable/sysfs-bus-usb` and
//! `testing/sysfs-bus-usb`). libusb and pySerial read them.

use super::device::Descriptors;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

pub const USB_MAJOR: u32 = 189;
const INTERFACE: u8 = 4;
const INTERFACE_BYTES: usize = 9;
const CDC_CONTROL: u8 = 2;
const ACM_MAJOR: u32 = 166;

/// Where a device stands on the one bus. The root hub stands at port 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub port: u8,
    /// Its number since the bus began: another one each time it is plugged in.
    pub number: u8,
}

impl Place {
    /// `1-2`, and `usb1` for the root hub.
    pub fn name(self) -> String {
        match self.port {
            0 => "usb1".into(),
            port => format!("1-{port}"),
        }
    }

    /// `/devices/usb1/1-2`
    pub fn device_path(self) -> String {
        match self.port {
            0 => "/devices/usb1".into(),
            _ => format!("/devices/usb1/{}", self.name()),
        }
    }

    /// `bus/usb/001/003`
    pub fn node(self) -> String {
        format!("bus/usb/001/{:03}", self.number)
    }

    pub fn minor(self) -> u32 {
        u32::from(self.number) - 1
    }
}

/// The folders and links below `root` that a device needs, and how to take them away.
pub struct Entry {
    made: Vec<PathBuf>,
}

impl Entry {
    /// `tty`: the name of the serial port that the kernel's CDC ACM driver would make.
    pub fn create(
        root: &Path,
        place: Place,
        descriptors: &Descriptors,
        tty: Option<&str>,
    ) -> io::Result<Entry> {
        let mut entry = Entry { made: Vec::new() };
        let name = place.name();
        let folder = root.join("sys").join(&place.device_path()[1..]);
        fs::create_dir_all(&folder)?;
        if place.port != 0 {
            entry.made.push(folder.clone());
        }
        write_device(&folder, place, descriptors)?;
        let up = "../../../";
        symlink(
            "../".repeat(depth(place)) + "bus/usb",
            folder.join("subsystem"),
        )?;
        entry.link(
            root.join("sys/bus/usb/devices").join(&name),
            format!("{up}{}", &place.device_path()[1..]),
        )?;
        let number = format!("{USB_MAJOR}:{}", place.minor());
        entry.link(
            root.join("sys/dev/char").join(&number),
            format!("../../{}", &place.device_path()[1..]),
        )?;
        entry.link(
            root.join("dev/.node").join(place.node().replace('/', "_")),
            number,
        )?;
        for interface in interfaces(&descriptors.configuration) {
            entry.add_interface(root, place, interface, tty)?;
        }
        Ok(entry)
    }

    fn add_interface(
        &mut self,
        root: &Path,
        place: Place,
        interface: &[u8],
        tty: Option<&str>,
    ) -> io::Result<()> {
        let name = match place.port {
            0 => format!("1-0:1.{}", interface[2]),
            _ => format!("{}:1.{}", place.name(), interface[2]),
        };
        let path = format!("{}/{name}", place.device_path());
        let folder = root.join("sys").join(&path[1..]);
        fs::create_dir_all(&folder)?;
        for (file, value) in [
            ("bInterfaceNumber", interface[2]),
            ("bAlternateSetting", interface[3]),
            ("bNumEndpoints", interface[4]),
            ("bInterfaceClass", interface[5]),
            ("bInterfaceSubClass", interface[6]),
            ("bInterfaceProtocol", interface[7]),
        ] {
            fs::write(folder.join(file), format!("{value:02x}\n"))?;
        }
        fs::write(folder.join("uevent"), "DEVTYPE=usb_interface\n")?;
        symlink(
            "../".repeat(depth(place) + 1) + "bus/usb",
            folder.join("subsystem"),
        )?;
        self.link(
            root.join("sys/bus/usb/devices").join(&name),
            format!("../../../{}", &path[1..]),
        )?;
        match tty {
            Some(tty) if interface[5] == CDC_CONTROL => self.add_tty(root, place, &path, tty),
            _ => Ok(()),
        }
    }

    fn add_tty(&mut self, root: &Path, place: Place, path: &str, tty: &str) -> io::Result<()> {
        let path = format!("{path}/tty/{tty}");
        let folder = root.join("sys").join(&path[1..]);
        fs::create_dir_all(&folder)?;
        fs::write(
            folder.join("uevent"),
            format!("MAJOR={ACM_MAJOR}\nMINOR=0\nDEVNAME={tty}\n"),
        )?;
        fs::write(folder.join("dev"), format!("{ACM_MAJOR}:0\n"))?;
        symlink("../..", folder.join("device"))?;
        symlink(
            "../".repeat(depth(place) + 3) + "class/tty",
            folder.join("subsystem"),
        )?;
        self.link(
            root.join("sys/class/tty").join(tty),
            format!("../../{}", &path[1..]),
        )
    }

    fn link(&mut self, path: PathBuf, target: String) -> io::Result<()> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        symlink(target, &path)?;
        self.made.push(path);
        Ok(())
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        for path in self.made.iter().rev() {
            let _ = match path.symlink_metadata().is_ok_and(|data| data.is_dir()) {
                true => fs::remove_dir_all(path),
                false => fs::remove_file(path),
            };
        }
    }
}

/// How many folders a device's folder lies below `/sys`.
fn depth(place: Place) -> usize {
    place.device_path().matches('/').count()
}

fn write_device(folder: &Path, place: Place, descriptors: &Descriptors) -> io::Result<()> {
    let device = &descriptors.device;
    let id = |at: usize| u16::from_le_bytes([device[at], device[at + 1]]);
    let uevent = format!(
        "MAJOR={USB_MAJOR}\nMINOR={}\nDEVNAME={}\nDEVTYPE=usb_device\nPRODUCT={:x}/{:x}/{:x}\n\
         BUSNUM=001\nDEVNUM={:03}\n",
        place.minor(),
        place.node(),
        id(8),
        id(10),
        id(12),
        place.number
    );
    fs::write(folder.join("uevent"), uevent)?;
    let whole = [&device[..], &descriptors.configuration[..]].concat();
    fs::write(folder.join("descriptors"), whole)?;
    for (file, text) in [
        ("busnum", "1".into()),
        ("devnum", place.number.to_string()),
        ("devpath", place.port.to_string()),
        ("dev", format!("{USB_MAJOR}:{}", place.minor())),
        ("speed", descriptors.speed.sysfs().into()),
        ("idVendor", format!("{:04x}", id(8))),
        ("idProduct", format!("{:04x}", id(10))),
        ("bcdDevice", format!("{:04x}", id(12))),
        ("version", format!("{:2x}.{:02x}", device[3], device[2])),
        ("bDeviceClass", format!("{:02x}", device[4])),
        ("bDeviceSubClass", format!("{:02x}", device[5])),
        ("bDeviceProtocol", format!("{:02x}", device[6])),
        ("bNumConfigurations", "1".into()),
        (
            "bNumInterfaces",
            format!("{:2}", descriptors.configuration[4]),
        ),
        (
            "bConfigurationValue",
            descriptors.configuration_value().to_string(),
        ),
    ] {
        fs::write(folder.join(file), text + "\n")?;
    }
    for (file, index) in [("manufacturer", 14), ("product", 15), ("serial", 16)] {
        if let Some(text) = descriptors.string(device[index]) {
            fs::write(folder.join(file), format!("{text}\n"))?;
        }
    }
    Ok(())
}

/// The first setting of each interface (USB 2.0, table 9-12).
fn interfaces(configuration: &[u8]) -> Vec<&[u8]> {
    let mut found = Vec::new();
    let mut rest = configuration;
    while let Some(&length @ 2..) = rest.first() {
        let (descriptor, after) = rest.split_at(usize::from(length).min(rest.len()));
        if descriptor.len() >= INTERFACE_BYTES && descriptor[1] == INTERFACE && descriptor[3] == 0 {
            found.push(descriptor);
        }
        rest = after;
    }
    found
}
