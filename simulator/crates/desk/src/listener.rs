//! A server's port on the loopback interface. Each client gets a thread of its own.

use super::client_limit::ClientLimit;
use anyhow::{Context, Result};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::thread;

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
