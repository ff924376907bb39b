//! Choices out of bytes.

use arbitrary::Unstructured;

/// Makes choices until its bytes are used up; from then on it makes the first of each.
pub struct Draw<'b>(Unstructured<'b>);

/// Bytes that look random and are the same for the same seed.
pub fn bytes_of(seed: u32) -> Vec<u8> {
    let mut state = u64::from(seed) ^ 0x6f6e_6570_6f73_7421;
    let mut bytes = Vec::with_capacity(4096);
    while bytes.len() < 4096 {
        // splitmix64
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bytes.extend_from_slice(&(mixed ^ (mixed >> 31)).to_le_bytes());
    }
    bytes
}

impl<'b> Draw<'b> {
    /// Chooses by these bytes.
    pub fn new(bytes: &'b [u8]) -> Self {
        Self(Unstructured::new(bytes))
    }

    /// Goes on with what is left of a source.
    pub fn from_source(source: &mut Unstructured<'b>) -> Self {
        let rest = source.bytes(source.len()).unwrap_or_default();
        Self::new(rest)
    }

    /// A number below `count`; 0 where there is none.
    pub fn below(&mut self, count: usize) -> usize {
        self.0.int_in_range(0..=count.saturating_sub(1)).unwrap_or_default()
    }

    /// True about once in `count` times.
    pub fn once_in(&mut self, count: usize) -> bool {
        count > 0 && self.below(count) == count - 1
    }

    /// One of them.
    ///
    /// # Panics
    /// If there is none.
    pub fn pick<'t, T>(&mut self, of: &'t [T]) -> &'t T {
        &of[self.below(of.len())]
    }

    /// Any number.
    pub fn number(&mut self) -> u64 {
        self.0.arbitrary().unwrap_or_default()
    }

    /// Any float, also one that is none.
    pub fn float(&mut self) -> f64 {
        self.0.arbitrary().unwrap_or_default()
    }

    /// Any letter.
    pub fn letter(&mut self) -> char {
        self.0.arbitrary().unwrap_or('a')
    }
}
