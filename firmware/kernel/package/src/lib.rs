//! Empty: this package exists so that Cargo.lock pins where the FreeRTOS kernel comes from.
