//! How many clients a server serves at once. Each has a thread, and hostile or forgotten clients
//! could otherwise use up all threads.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

const MOST_CLIENTS: usize = 16;

/// The clients of one server. A clone counts the same ones.
#[derive(Clone, Default)]
pub struct ClientLimit(Arc<AtomicUsize>);

/// One client, until it is dropped.
pub struct ClientSlot(Arc<AtomicUsize>);

impl ClientLimit {
    /// `None` if there are too many clients.
    pub fn take(&self) -> Option<ClientSlot> {
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
