//! Decoded instructions by address, in pages that are made when code in them first executes.

use crate::decode::Op;
use crate::memory_map::{NORMAL_MEMORY_END, SRAM_START};
use std::sync::Arc;

/// Large enough that a program seldom leaves a page.
const PAGE_BITS: u32 = 14;
const SLOTS: usize = 1 << (PAGE_BITS - 1);
/// Instructions beyond are decoded each time.
const CACHED_END: u32 = NORMAL_MEMORY_END;

/// The decoded instructions of 16 KiB. Copies of a core share them until one of them decodes another.
#[derive(Clone)]
pub struct Page {
    number: u32,
    slots: Arc<[Op; SLOTS]>,
}

#[derive(Clone)]
pub struct CodeCache {
    /// For each page of the address space its index in `pages`, plus 1. 0: there is none.
    place_of: Arc<[u16]>,
    /// `None` while the core executes from the page.
    pages: Vec<Option<Page>>,
    /// A store to SRAM between these addresses may change code that is cached.
    writable_first: u32,
    writable_last: u32,
    /// What to forget in a page that is lent, when it comes back.
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
            slots: Arc::new([Op::UNDECODED; SLOTS]),
        }
    }

    #[inline(always)]
    pub fn holds(&self, address: u32) -> bool {
        address >> PAGE_BITS == self.number
    }

    /// The instruction at `address` modulo the page's size. Of kind `Undecoded` if there is none.
    #[inline(always)]
    pub fn get(&self, address: u32) -> &Op {
        &self.slots[(address >> 1) as usize & (SLOTS - 1)]
    }

    fn set(&mut self, address: u32, op: Op) {
        Arc::make_mut(&mut self.slots)[(address >> 1) as usize & (SLOTS - 1)] = op;
    }

    fn forget(&mut self, forgotten: Forgotten) {
        match forgotten {
            Forgotten::All => Arc::make_mut(&mut self.slots).fill(Op::UNDECODED),
            Forgotten::At(address) if self.holds(address) => self.set(address, Op::UNDECODED),
            Forgotten::At(_) => {}
        }
    }
}

impl Default for CodeCache {
    fn default() -> CodeCache {
        CodeCache {
            place_of: vec![0; (CACHED_END >> PAGE_BITS) as usize].into(),
            pages: Vec::new(),
            writable_first: u32::MAX,
            writable_last: 0,
            forgotten: Vec::new(),
        }
    }
}

impl CodeCache {
    /// The instruction at `address`. Of kind `Undecoded` if there is none.
    pub fn get(&self, address: u32) -> Op {
        self.place(address)
            .and_then(|place| self.pages[place].as_ref())
            .map_or(Op::UNDECODED, |page| *page.get(address))
    }

    pub fn insert(&mut self, address: u32, op: Op) {
        let number = (address >> PAGE_BITS) as usize;
        let Some(&(mut place)) = self.place_of.get(number) else {
            return;
        };
        if place == 0 {
            self.pages.push(Some(Page::new(address >> PAGE_BITS)));
            place = self.pages.len() as u16;
            Arc::make_mut(&mut self.place_of)[number] = place;
            if address >= SRAM_START {
                let page = address >> PAGE_BITS << PAGE_BITS;
                // A wide instruction may end beyond the page, and a store may begin before it.
                self.writable_first = self.writable_first.min(page.saturating_sub(4));
                self.writable_last = self.writable_last.max(page + (1 << PAGE_BITS) + 2);
            }
        }
        if let Some(page) = &mut self.pages[usize::from(place) - 1] {
            page.set(address, op);
        }
    }

    /// From now on [`CodeCache::may_hold`] holds for stores to these `bytes` bytes of SRAM, too.
    pub fn guard(&mut self, address: u32, bytes: u32) {
        self.writable_first = self.writable_first.min(address.saturating_sub(3));
        self.writable_last = self.writable_last.max(address.saturating_add(bytes - 1));
    }

    /// Lends the page of `address`, to execute from. What is written or cleared meanwhile takes
    /// effect when the page is given back.
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

    /// Whether a store to SRAM at `address` may change cached code.
    #[inline(always)]
    pub fn may_hold(&self, address: u32) -> bool {
        self.may_hold_any(address, address)
    }

    /// Whether stores to SRAM from `first` to `last` may change cached code.
    #[inline(always)]
    pub fn may_hold_any(&self, first: u32, last: u32) -> bool {
        last >= self.writable_first && first <= self.writable_last
    }

    /// Forgets the instructions that a write of `bytes` bytes at `address` may have changed, also a
    /// wide one that begins before it. A lent page must come back before the next instruction.
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

    /// Forgets everything. A lent page must come back before the next instruction.
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
