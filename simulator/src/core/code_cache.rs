//! Decoded instructions by address, in pages made when first executed from.

use super::decode::Op;

const PAGE_BITS: u32 = 12;
const SLOTS: usize = 1 << (PAGE_BITS - 1);
/// Code and SRAM regions (B3.1); instructions elsewhere are decoded each time.
const CACHED_END: u32 = 0x4000_0000;

type Page = Box<[Op; SLOTS]>;

#[derive(Clone)]
pub struct CodeCache {
    /// Page of each 4 KiB of address space; 0 = none, so that `pages[0]` is an empty page, never written.
    page_of: Box<[u16]>,
    pages: Vec<Page>,
    /// Number and index of the page last executed from. Taking it from here rather than from `page_of` keeps two loads out
    /// of the chain from one instruction's address to the next one's.
    current: (u32, usize),
}

fn empty_page() -> Page {
    Box::new([Op::UNDECODED; SLOTS])
}

fn slot_of(address: u32) -> usize {
    (address >> 1) as usize & (SLOTS - 1)
}

impl Default for CodeCache {
    fn default() -> Self {
        CodeCache::new()
    }
}

impl CodeCache {
    pub fn new() -> CodeCache {
        let page_of = vec![0; (CACHED_END >> PAGE_BITS) as usize].into_boxed_slice();
        CodeCache {
            page_of,
            pages: vec![empty_page()],
            current: (0, 0),
        }
    }

    /// The instruction at `address`, or one of kind `Undecoded`.
    #[inline(always)]
    pub fn get(&mut self, address: u32) -> Op {
        if address >> PAGE_BITS != self.current.0 {
            self.current = (address >> PAGE_BITS, self.page_index(address));
        }
        self.pages[self.current.1][slot_of(address)]
    }

    fn page_index(&self, address: u32) -> usize {
        self.page_of
            .get((address >> PAGE_BITS) as usize)
            .map_or(0, |&page| page.into())
    }

    pub fn insert(&mut self, address: u32, op: Op) {
        let Some(page) = self.page_of.get_mut((address >> PAGE_BITS) as usize) else {
            return;
        };
        if *page == 0 {
            *page = self.pages.len() as u16;
            self.pages.push(empty_page());
            self.current = (address >> PAGE_BITS, *page as usize);
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
                let page = self.page_index(address);
                self.pages[page][slot_of(address)] = Op::UNDECODED;
            }
        }
    }

    pub fn clear(&mut self) {
        for page in &mut self.pages {
            page.fill(Op::UNDECODED);
        }
    }
}
