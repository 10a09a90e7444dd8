//! A server's port on the loopback interface. Each client gets a thread of its own.

use anyhow::{Context, Result};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;
use std::thread;

/// How many clients a server serves at once. Each has a thread, and hostile or forgotten clients could
/// otherwise use up all threads.
const MOST_CLIENTS: usize = 16;

/// The clients of one server. A clone counts the same ones.
#[derive(Clone, Default)]
struct ClientLimit(Arc<AtomicUsize>);

/// One client, until it is dropped.
struct ClientSlot(Arc<AtomicUsize>);

impl ClientLimit {
    /// `None` if there are too many clients.
    fn take(&self) -> Option<ClientSlot> {
        // The slot counts at once. If it is one too many, dropping it takes the count back.
        let seat = ClientSlot(Arc::clone(&self.0));
        (self.0.fetch_add(1, Ordering::SeqCst) < MOST_CLIENTS).then_some(seat)
    }
}

impl Drop for ClientSlot {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// A port that accepts no clients yet.
pub struct Listener {
    listener: TcpListener,
    address: SocketAddr,
}

impl Listener {
    /// Listens on the loopback interface. `port` 0 takes any free port. `server` is the name in
    /// errors.
    pub fn listen(port: u16, server: &str) -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))
            .with_context(|| format!("cannot listen for {server} on port {port}"))?;
        let address = listener
            .local_addr()
            .with_context(|| format!("{server} has no address"))?;
        Ok(Self { listener, address })
    }

    /// `127.0.0.1:41001`
    pub fn address(&self) -> String {
        self.address.to_string()
    }

    /// Accepts clients, each with its number, until the process ends. Hangs up if there are too
    /// many.
    pub fn serve(self, converse: impl Fn(TcpStream, usize) + Clone + Send + 'static) {
        let seats = ClientLimit::default();
        thread::spawn(move || {
            for (number, socket) in self.listener.incoming().flatten().enumerate() {
                let Some(seat) = seats.take() else {
                    continue; // dropping the socket hangs up
                };
                let converse = converse.clone();
                thread::spawn(move || {
                    let _seat = seat;
                    converse(socket, number);
                });
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_is_turned_away_until_one_leaves() {
        let seats = ClientLimit::default();
        let mut taken: Vec<Option<ClientSlot>> = (0..MOST_CLIENTS).map(|_| seats.take()).collect();
        assert!(taken.iter().all(Option::is_some));
        assert!(seats.take().is_none() && seats.clone().take().is_none());
        taken.pop();
        assert!(seats.take().is_some());
    }
}
