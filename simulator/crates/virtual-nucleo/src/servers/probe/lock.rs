//! Lets one client at a time make a batch of requests that no other client interrupts.

use super::protocol::Refusal;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

pub type ClientId = usize;

/// How long a client waits for another one's batch.
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Default)]
struct Owner {
    client: Option<ClientId>,
    depth: u32,
}

impl Owner {
    fn is_another(&self, client: ClientId) -> bool {
        self.client.is_some_and(|owner| owner != client)
    }
}

#[derive(Default)]
pub struct ProbeLock {
    owner: Mutex<Owner>,
    freed: Condvar,
}

impl ProbeLock {
    pub fn acquire(&self, client: ClientId) -> Result<(), Refusal> {
        let mut owner = self.wait(client)?;
        owner.client = Some(client);
        owner.depth += 1;
        Ok(())
    }

    pub fn release(&self, client: ClientId) -> Result<(), Refusal> {
        let mut owner = self.owner();
        if owner.client != Some(client) {
            return Err(Refusal::general("the probe is not locked by this client"));
        }
        owner.depth -= 1;
        if owner.depth == 0 {
            owner.client = None;
            self.freed.notify_one();
        }
        Ok(())
    }

    pub fn release_all(&self, client: ClientId) {
        let mut owner = self.owner();
        if owner.client == Some(client) {
            *owner = Owner::default();
            self.freed.notify_one();
        }
    }

    /// Waits until no other client is in a batch.
    pub fn check(&self, client: ClientId) -> Result<(), Refusal> {
        self.wait(client).map(|owner| {
            if owner.client.is_none() {
                self.freed.notify_one(); // pass on the turn that this client did not need
            }
        })
    }

    fn wait(&self, client: ClientId) -> Result<MutexGuard<'_, Owner>, Refusal> {
        let (owner, waited) = self
            .freed
            .wait_timeout_while(self.owner(), PATIENCE, |owner| owner.is_another(client))
            .unwrap_or_else(PoisonError::into_inner);
        if waited.timed_out() && owner.is_another(client) {
            return Err(Refusal::general("another client keeps the probe locked"));
        }
        Ok(owner)
    }

    fn owner(&self) -> MutexGuard<'_, Owner> {
        self.owner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
