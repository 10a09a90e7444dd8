//! Empty: this package exists so that Cargo.lock pins where allocators of others come from.
