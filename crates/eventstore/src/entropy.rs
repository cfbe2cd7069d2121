//! Random bytes for ids, fetched from the system in bulk: one call per id would cost more than
//! hashing the event.

use std::cell::RefCell;

const POOL: usize = 4096;

thread_local! {
    static BYTES: RefCell<(Box<[u8; POOL]>, usize)> = RefCell::new((Box::new([0; POOL]), POOL));
}

/// Ten random bytes, as a UUIDv7 needs.
pub fn entropy() -> [u8; 10] {
    BYTES.with_borrow_mut(|(pool, used)| {
        if *used + 10 > POOL {
            getrandom::fill(&mut pool[..]).expect("the system has a random source");
            *used = 0;
        }
        let bytes = pool[*used..*used + 10].try_into().expect("ten bytes");
        *used += 10;
        bytes
    })
}
