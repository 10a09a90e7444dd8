#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| virtual_nucleo_fuzz::entries::image(data));
