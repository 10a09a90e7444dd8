//! A device that is plugged in: its node, the transfers that wait, and those that can be reaped.

use super::client::{Client, Outcome, Request};
use super::device::{Device, Fault, Setup, Waker};
use super::node::Node;
use super::standard;
use super::usbfs::{self, Urb};
use rustix::io::Errno;
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// A device may hold data back for a while and then hand out what there is, without a wake.
const LOOK_PERIOD: Duration = Duration::from_millis(50);

/// A program's open descriptor of the node.
type Opening = usize;

/// A transfer to a bulk or interrupt IN endpoint.
struct Waiting {
    opening: Opening,
    /// Where the program's URB lies. It names the transfer.
    address: u64,
    urb: Urb,
}

/// A transfer that is over.
struct Finished {
    address: u64,
    status: i32,
    actual: usize,
    /// What goes where in the program's memory.
    data: Option<(u64, Vec<u8>)>,
}

struct State {
    device: Option<Box<dyn Device>>,
    node: Node,
    waiting: VecDeque<Waiting>,
    finished: BTreeMap<Opening, VecDeque<Finished>>,
    openings: usize,
    /// How much of its descriptors a program has read.
    read: BTreeMap<Opening, usize>,
    /// Which program has which interface.
    claims: BTreeMap<u32, Opening>,
}

/// A device on the bus. Clones are the same one.
#[derive(Clone)]
pub struct Port {
    state: Arc<Mutex<State>>,
}

/// A device that left the bus, and comes back as this one, if a request led to that.
type Renumerated = Option<Box<dyn Device>>;

impl Port {
    /// Serves `device` until it is unplugged. `waker` is the device's own.
    pub fn new(device: Box<dyn Device>, node: Node, waker: Waker) -> Port {
        let port = Port {
            state: Arc::new(Mutex::new(State {
                device: Some(device),
                node,
                waiting: VecDeque::new(),
                finished: BTreeMap::new(),
                openings: 0,
                read: BTreeMap::new(),
                claims: BTreeMap::new(),
            })),
        };
        port.listen_for(waker);
        port
    }

    fn listen_for(&self, waker: Waker) {
        let state = Arc::downgrade(&self.state);
        thread::spawn(move || loop {
            waker.wait(LOOK_PERIOD);
            let Some(state) = state.upgrade() else { return };
            let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
            if state.device.is_none() {
                return;
            }
            state.exchange();
        });
    }

    /// Takes the device away. Programs that have it open learn of it with their next request.
    pub fn unplug(&self) -> Option<Box<dyn Device>> {
        self.state().unplug()
    }

    /// Answers a program until it closes the node. `renumerated` gets a device that comes back as
    /// another.
    pub fn converse(&self, mut client: Client, renumerated: impl Fn(Box<dyn Device>)) {
        let opening = self.state().open();
        while let Some(request) = client.next() {
            match self.answer(opening, &mut client, request) {
                Ok(None) => {}
                Ok(Some(device)) => renumerated(device),
                Err(_) => break, // the program is gone
            }
        }
        self.state().close(opening);
    }

    fn answer(
        &self,
        opening: Opening,
        client: &mut Client,
        request: Request,
    ) -> io::Result<Renumerated> {
        let (request, argument) = match request {
            Request::Ioctl { request, argument } => (request, argument),
            Request::Read { buffer, length } => {
                let outcome = self.read(opening, client, buffer, length)?;
                client.done(outcome)?;
                return Ok(None);
            }
            Request::Other => {
                client.done(Err(Errno::IO))?;
                return Ok(None);
            }
        };
        let outcome = match request {
            usbfs::SUBMITURB => return self.submit(opening, client, argument),
            usbfs::REAPURB | usbfs::REAPURBNDELAY => self.reap(opening, client, argument)?,
            usbfs::DISCARDURB => self.state().discard(opening, argument),
            usbfs::CLAIMINTERFACE | usbfs::DISCONNECT_CLAIM => {
                let interface = read_number(client, argument)?;
                self.state().claim(opening, interface)
            }
            usbfs::RELEASEINTERFACE => {
                let interface = read_number(client, argument)?;
                self.state().release(opening, interface)
            }
            usbfs::RESET => self.state().reset(),
            usbfs::GET_CAPABILITIES => {
                client.write(argument, &usbfs::CAPABILITIES.to_ne_bytes())?;
                Ok(0)
            }
            usbfs::GET_SPEED => self.state().speed(),
            // No driver of the kernel is bound to any of these interfaces.
            usbfs::GETDRIVER => Err(Errno::NODATA),
            usbfs::SETINTERFACE | usbfs::SETCONFIGURATION | usbfs::CLEAR_HALT => Ok(0),
            _ => Err(Errno::NOTTY),
        };
        let plugged_in = self.state().device.is_some();
        let reaped = matches!(request, usbfs::REAPURB | usbfs::REAPURBNDELAY) && outcome.is_ok();
        client.done(if plugged_in || reaped {
            outcome
        } else {
            Err(Errno::NODEV)
        })?;
        Ok(None)
    }

    fn submit(
        &self,
        opening: Opening,
        client: &mut Client,
        address: u64,
    ) -> io::Result<Renumerated> {
        let Some(urb) = Urb::parse(&client.read(address, usbfs::URB_BYTES)?) else {
            client.done(Err(Errno::INVAL))?;
            return Ok(None);
        };
        let reads = urb.endpoint & 0x80 != 0;
        let sent = match urb.kind {
            usbfs::TYPE_CONTROL => client.read(urb.buffer, urb.length)?,
            _ if !reads => client.read(urb.buffer, urb.length)?,
            _ => Vec::new(),
        };
        let (outcome, renumerated) = self.state().submit(opening, address, urb, &sent);
        client.done(outcome)?;
        Ok(renumerated)
    }

    /// The next bytes of the descriptors, which a node holds as a file does (Linux,
    /// `drivers/usb/core/devio.c`, usbdev_read). nusb reads them there, libusb in sysfs.
    fn read(
        &self,
        opening: Opening,
        client: &mut Client,
        buffer: u64,
        length: usize,
    ) -> io::Result<Outcome> {
        let Some(bytes) = self.state().read(opening, length) else {
            return Ok(Err(Errno::NODEV));
        };
        client.write(buffer, &bytes)?;
        Ok(Ok(bytes.len() as i64))
    }

    fn reap(&self, opening: Opening, client: &mut Client, argument: u64) -> io::Result<Outcome> {
        let Some(finished) = self.state().take_finished(opening) else {
            return Ok(Err(Errno::AGAIN));
        };
        if let Some((buffer, data)) = &finished.data {
            client.write(*buffer, data)?;
        }
        let status = finished.status.to_ne_bytes();
        client.write(finished.address.wrapping_add(usbfs::URB_STATUS), &status)?;
        let actual = (finished.actual as i32).to_ne_bytes();
        client.write(
            finished.address.wrapping_add(usbfs::URB_ACTUAL_LENGTH),
            &actual,
        )?;
        client.write(argument, &finished.address.to_ne_bytes())?;
        Ok(Ok(0))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn open(&mut self) -> Opening {
        self.openings += 1;
        self.finished.insert(self.openings, VecDeque::new());
        self.openings
    }

    fn read(&mut self, opening: Opening, length: usize) -> Option<Vec<u8>> {
        let descriptors = self.device.as_ref()?.descriptors();
        let place = self.read.entry(opening).or_default();
        let all = descriptors.device.iter().chain(&descriptors.configuration);
        let bytes: Vec<u8> = all.skip(*place).take(length).copied().collect();
        *place += bytes.len();
        Some(bytes)
    }

    fn close(&mut self, opening: Opening) {
        self.read.remove(&opening);
        let used = self.waiting.iter().any(|w| w.opening == opening)
            || self.claims.values().any(|&claimant| claimant == opening);
        self.claims.retain(|_, &mut claimant| claimant != opening);
        self.waiting.retain(|w| w.opening != opening);
        self.finished.remove(&opening);
        if let (Some(device), true) = (&mut self.device, used) {
            device.release();
        }
        self.show();
    }

    /// An interface is one program's at a time.
    fn claim(&mut self, opening: Opening, interface: u32) -> Outcome {
        match *self.claims.entry(interface).or_insert(opening) {
            claimant if claimant == opening => Ok(0),
            _ => Err(Errno::BUSY),
        }
    }

    fn release(&mut self, opening: Opening, interface: u32) -> Outcome {
        if self.claims.get(&interface) != Some(&opening) {
            return Err(Errno::INVAL);
        }
        self.claims.remove(&interface);
        self.reset()
    }

    /// The device forgets what a program began.
    fn reset(&mut self) -> Outcome {
        let device = self.device.as_mut().ok_or(Errno::NODEV)?;
        device.release();
        Ok(0)
    }

    fn speed(&self) -> Outcome {
        let device = self.device.as_ref().ok_or(Errno::NODEV)?;
        Ok(device.descriptors().speed.usbfs())
    }

    fn unplug(&mut self) -> Option<Box<dyn Device>> {
        let device = self.device.take();
        for waiting in std::mem::take(&mut self.waiting) {
            self.finish(waiting.opening, failed(waiting.address, Fault::Gone));
        }
        self.show();
        device
    }

    fn submit(
        &mut self,
        opening: Opening,
        address: u64,
        urb: Urb,
        sent: &[u8],
    ) -> (Outcome, Renumerated) {
        let Some(device) = &mut self.device else {
            return (Err(Errno::NODEV), None);
        };
        let mut renumerated = None;
        match urb.kind {
            usbfs::TYPE_CONTROL => {
                let Some((head, data)) = sent.split_first_chunk() else {
                    return (Err(Errno::INVAL), None);
                };
                let finished = control(device.as_mut(), address, urb, usbfs::setup(head), data);
                renumerated = device.renumerated();
                self.finish(opening, finished);
                if renumerated.is_some() {
                    self.unplug();
                }
            }
            usbfs::TYPE_BULK | usbfs::TYPE_INTERRUPT if urb.endpoint & 0x80 != 0 => {
                self.waiting.push_back(Waiting {
                    opening,
                    address,
                    urb,
                });
            }
            usbfs::TYPE_BULK | usbfs::TYPE_INTERRUPT => {
                let finished = match device.bulk_out(urb.endpoint, sent) {
                    Ok(()) => Finished {
                        address,
                        status: 0,
                        actual: urb.length,
                        data: None,
                    },
                    Err(fault) => failed(address, fault),
                };
                self.finish(opening, finished);
            }
            _ => return (Err(Errno::INVAL), None),
        }
        self.exchange();
        (Ok(0), renumerated)
    }

    fn discard(&mut self, opening: Opening, address: u64) -> Outcome {
        let place = self
            .waiting
            .iter()
            .position(|w| w.opening == opening && w.address == address)
            .ok_or(Errno::INVAL)?;
        self.waiting.remove(place);
        self.finish(
            opening,
            Finished {
                address,
                status: usbfs::discarded(),
                actual: 0,
                data: None,
            },
        );
        self.show();
        Ok(0)
    }

    fn take_finished(&mut self, opening: Opening) -> Option<Finished> {
        let finished = self.finished.get_mut(&opening)?.pop_front();
        self.show();
        finished
    }

    /// Gives transfers that wait what the device has for them, in the order of their submission.
    fn exchange(&mut self) {
        let mut silent = 0u32; // a bit for each endpoint that has nothing now
        let mut place = 0;
        while let (Some(device), Some(waiting)) = (&mut self.device, self.waiting.get(place)) {
            let Waiting {
                opening,
                address,
                urb,
            } = *waiting;
            let bit = 1 << (urb.endpoint & 0xF);
            let answer = match silent & bit {
                0 => device.bulk_in(urb.endpoint, urb.length),
                _ => Ok(None),
            };
            let finished = match answer {
                Ok(None) => {
                    silent |= bit;
                    place += 1;
                    continue;
                }
                Ok(Some(data)) if data.len() <= urb.length => Finished {
                    address,
                    status: 0,
                    actual: data.len(),
                    data: Some((urb.buffer, data)),
                },
                Ok(Some(_)) => failed(address, Fault::Overflow),
                Err(fault) => failed(address, fault),
            };
            self.waiting.remove(place);
            self.finish(opening, finished);
        }
        self.show();
    }

    fn finish(&mut self, opening: Opening, finished: Finished) {
        if let Some(queue) = self.finished.get_mut(&opening) {
            queue.push_back(finished);
        }
    }

    /// Shows on the node whether anybody has something to reap.
    fn show(&mut self) {
        let any = self.finished.values().any(|queue| !queue.is_empty());
        self.node.set_writable(any);
    }
}

/// The unsigned int at the start of an ioctl's argument.
fn read_number(client: &mut Client, argument: u64) -> io::Result<u32> {
    let bytes = client.read(argument, size_of::<u32>())?;
    Ok(bytes
        .iter()
        .rev()
        .fold(0, |number, &byte| number << 8 | u32::from(byte)))
}

fn failed(address: u64, fault: Fault) -> Finished {
    Finished {
        address,
        status: usbfs::status(fault),
        actual: 0,
        data: None,
    }
}

/// A control transfer. What it reads goes behind the set-up packet in the program's buffer.
fn control(device: &mut dyn Device, address: u64, urb: Urb, setup: Setup, data: &[u8]) -> Finished {
    let reads = setup.request_type & 0x80 != 0;
    let room = usize::from(setup.length).min(data.len());
    let sent = if reads { &[] } else { &data[..room] };
    let answer = standard::answer(device.descriptors(), setup)
        .unwrap_or_else(|| device.control(setup, sent));
    match answer {
        Ok(mut answer) => {
            answer.truncate(room);
            Finished {
                address,
                status: 0,
                actual: if reads { answer.len() } else { room },
                data: reads.then_some((urb.buffer.wrapping_add(usbfs::SETUP_BYTES as u64), answer)),
            }
        }
        Err(fault) => failed(address, fault),
    }
}
