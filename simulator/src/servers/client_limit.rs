//! How many clients a server talks to at once: each holds a thread, and hostile or forgotten ones would hold all there are.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

const MOST_CLIENTS: usize = 16;

/// A server's seats; clones are of the same server.
#[derive(Clone, Default)]
pub struct ClientLimit(Arc<AtomicUsize>);

/// One client's seat, until it is dropped.
pub struct ClientSlot(Arc<AtomicUsize>);

impl ClientLimit {
    /// `None` where all are taken.
    pub fn take(&self) -> Option<ClientSlot> {
        // The seat counts before it is looked at, and gives itself back where it is one too many.
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
