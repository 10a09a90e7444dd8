//! Decoded instructions by address, in pages made when first executed from.

use super::decode::Op;
use super::memory_map::{NORMAL_MEMORY_END, SRAM_START};

/// Pages large enough that a program seldom leaves one.
const PAGE_BITS: u32 = 14;
const SLOTS: usize = 1 << (PAGE_BITS - 1);
/// Instructions beyond are decoded each time.
const CACHED_END: u32 = NORMAL_MEMORY_END;

/// The decoded instructions of 16 KiB.
#[derive(Clone)]
pub struct Page {
    number: u32,
    slots: Box<[Op; SLOTS]>,
}

#[derive(Clone)]
pub struct CodeCache {
    /// Place of each page of the address space in `pages`, plus 1; 0 = none.
    place_of: Box<[u16]>,
    /// `None` while the core executes from the page.
    pages: Vec<Option<Page>>,
    /// Where a store to SRAM may change what is remembered.
    writable_first: u32,
    writable_last: u32,
    /// What has been forgotten of pages that were not here.
    forgotten: Vec<Forgotten>,
}

#[derive(Clone, Copy)]
enum Forgotten {
    All,
    At(u32),
}

impl Page {
    fn new(number: u32) -> Page {
        Page {
            number,
            slots: Box::new([Op::UNDECODED; SLOTS]),
        }
    }

    #[inline(always)]
    pub fn holds(&self, address: u32) -> bool {
        address >> PAGE_BITS == self.number
    }

    /// The instruction at `address`, modulo the page's size, or one of kind `Undecoded`.
    #[inline(always)]
    pub fn get(&self, address: u32) -> &Op {
        &self.slots[(address >> 1) as usize & (SLOTS - 1)]
    }

    fn set(&mut self, address: u32, op: Op) {
        self.slots[(address >> 1) as usize & (SLOTS - 1)] = op;
    }

    fn forget(&mut self, forgotten: Forgotten) {
        match forgotten {
            Forgotten::All => self.slots.fill(Op::UNDECODED),
            Forgotten::At(address) if self.holds(address) => self.set(address, Op::UNDECODED),
            Forgotten::At(_) => {}
        }
    }
}

impl Default for CodeCache {
    fn default() -> Self {
        CodeCache::new()
    }
}

impl CodeCache {
    pub fn new() -> CodeCache {
        CodeCache {
            place_of: vec![0; (CACHED_END >> PAGE_BITS) as usize].into_boxed_slice(),
            pages: Vec::new(),
            writable_first: u32::MAX,
            writable_last: 0,
            forgotten: Vec::new(),
        }
    }

    /// The instruction at `address`, or one of kind `Undecoded`.
    pub fn get(&self, address: u32) -> Op {
        self.place(address)
            .and_then(|place| self.pages[place].as_ref())
            .map_or(Op::UNDECODED, |page| *page.get(address))
    }

    pub fn insert(&mut self, address: u32, op: Op) {
        let Some(place) = self.place_of.get_mut((address >> PAGE_BITS) as usize) else {
            return;
        };
        if *place == 0 {
            self.pages.push(Some(Page::new(address >> PAGE_BITS)));
            *place = self.pages.len() as u16;
            if address >= SRAM_START {
                let page = address >> PAGE_BITS << PAGE_BITS;
                // A wide instruction may end, and a store begin, beyond the page.
                self.writable_first = self.writable_first.min(page.saturating_sub(4));
                self.writable_last = self.writable_last.max(page + (1 << PAGE_BITS) + 2);
            }
        }
        if let Some(page) = &mut self.pages[usize::from(*place) - 1] {
            page.set(address, op);
        }
    }

    /// Lends the page of `address` to be executed from; what is written or cleared meanwhile takes effect on return.
    #[inline(always)]
    pub fn lend(&mut self, address: u32) -> Option<Page> {
        let place = self.place(address)?;
        self.pages[place].take()
    }

    #[inline(always)]
    pub fn give_back(&mut self, mut page: Page) {
        if !self.forgotten.is_empty() {
            for forgotten in std::mem::take(&mut self.forgotten) {
                page.forget(forgotten);
            }
        }
        let place = usize::from(self.place_of[page.number as usize]) - 1;
        self.pages[place] = Some(page);
    }

    /// Whether a store to SRAM may have changed what is remembered.
    #[inline(always)]
    pub fn may_hold(&self, address: u32) -> bool {
        self.may_hold_any(address, address)
    }

    /// Whether stores to SRAM from address `first` to address `last` may have changed what is remembered.
    #[inline(always)]
    pub fn may_hold_any(&self, first: u32, last: u32) -> bool {
        last >= self.writable_first && first <= self.writable_last
    }

    /// Forgets what a write of `bytes` bytes at `address` may have changed, a wide instruction begun before included. A page
    /// that is lent is to be given back before the next instruction.
    pub fn written(&mut self, address: u32, bytes: u32) {
        let first = address.saturating_sub(2) & !1;
        for halfword in (first..address.saturating_add(bytes)).step_by(2) {
            self.forget(halfword);
        }
    }

    fn forget(&mut self, address: u32) {
        let Some(place) = self.place(address) else {
            return;
        };
        match &mut self.pages[place] {
            Some(page) => page.forget(Forgotten::At(address)),
            None => self.forgotten.push(Forgotten::At(address)),
        }
    }

    /// Forgets everything. A page that is lent is to be given back before the next instruction.
    pub fn clear(&mut self) {
        for page in self.pages.iter_mut().flatten() {
            page.forget(Forgotten::All);
        }
        self.forgotten.push(Forgotten::All);
    }

    #[inline(always)]
    fn place(&self, address: u32) -> Option<usize> {
        let place = *self.place_of.get((address >> PAGE_BITS) as usize)?;
        usize::from(place).checked_sub(1)
    }
}
