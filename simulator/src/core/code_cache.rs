//! Decoded instructions by address, in pages made when first executed from.

use super::decode::{Kind, Op};

const PAGE_BITS: u32 = 12;
const SLOTS: usize = 1 << (PAGE_BITS - 1);
/// Code and SRAM regions (B3.1); instructions elsewhere are decoded each time.
const CACHED_END: u32 = 0x4000_0000;

type Page = Box<[Op; SLOTS]>;

pub struct CodeCache {
    /// Page of each 4 KiB of address space; 0 = none, so that `pages[0]` is an empty page, never written.
    page_of: Box<[u16]>,
    pages: Vec<Page>,
}

fn empty_page() -> Page {
    Box::new([Op::UNDECODED; SLOTS])
}

fn slot_of(address: u32) -> usize {
    (address >> 1) as usize & (SLOTS - 1)
}

impl CodeCache {
    pub fn new() -> CodeCache {
        let page_of = vec![0; (CACHED_END >> PAGE_BITS) as usize].into_boxed_slice();
        CodeCache {
            page_of,
            pages: vec![empty_page()],
        }
    }

    /// The instruction at `address`, or one of kind [`Kind::Undecoded`].
    #[inline(always)]
    pub fn get(&self, address: u32) -> Op {
        match self.page_of.get((address >> PAGE_BITS) as usize) {
            Some(&page) => self.pages[page as usize][slot_of(address)],
            None => Op::UNDECODED,
        }
    }

    pub fn insert(&mut self, address: u32, op: Op) {
        let Some(page) = self.page_of.get_mut((address >> PAGE_BITS) as usize) else {
            return;
        };
        if *page == 0 {
            *page = self.pages.len() as u16;
            self.pages.push(empty_page());
        }
        self.pages[*page as usize][slot_of(address)] = op;
    }

    /// Forgets what a write of `bytes` bytes at `address` may have changed, a wide instruction begun before included.
    #[inline(always)]
    pub fn written(&mut self, address: u32, bytes: u32) {
        let first = address.wrapping_sub(2) & !1;
        if self.holds_code(address) || self.holds_code(first) {
            self.forget(first, address.wrapping_add(bytes));
        }
    }

    fn holds_code(&self, address: u32) -> bool {
        self.page_of
            .get((address >> PAGE_BITS) as usize)
            .is_some_and(|&page| page != 0)
    }

    fn forget(&mut self, first: u32, end: u32) {
        for address in (first..end).step_by(2) {
            if self.holds_code(address) {
                let page = self.page_of[(address >> PAGE_BITS) as usize];
                self.pages[page as usize][slot_of(address)].kind = Kind::Undecoded;
            }
        }
    }

    pub fn clear(&mut self) {
        for page in &mut self.pages {
            page.fill(Op::UNDECODED);
        }
    }
}
