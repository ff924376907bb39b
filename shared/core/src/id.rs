//! Ids and random text, from a source that tests can replace.

use jiff::Timestamp;
use ring::rand::{SecureRandom, SystemRandom};
use uuid::Uuid;

const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const BASE36: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";

/// Where random bytes come from.
pub trait Entropy: Send + Sync {
    /// Fills `bytes` with unpredictable ones.
    fn fill(&self, bytes: &mut [u8]);
}

/// The operating system's generator.
#[derive(Debug, Clone)]
pub struct SystemEntropy(SystemRandom);

impl Default for SystemEntropy {
    fn default() -> Self {
        Self(SystemRandom::new())
    }
}

impl Entropy for SystemEntropy {
    fn fill(&self, bytes: &mut [u8]) {
        self.0.fill(bytes).expect("the operating system hands out random bytes");
    }
}

/// Makes ids. Cheap to clone a reference to; holds no state but its source.
pub struct Ids {
    entropy: Box<dyn Entropy>,
}

impl Default for Ids {
    fn default() -> Self {
        Self::from_entropy(SystemEntropy::default())
    }
}

impl std::fmt::Debug for Ids {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Ids")
    }
}

impl Ids {
    /// Ids drawn from `entropy`.
    pub fn from_entropy(entropy: impl Entropy + 'static) -> Self {
        Self { entropy: Box::new(entropy) }
    }

    /// `<prefix>-<UUID version 4>`: cannot be guessed and says nothing of its time.
    pub fn unguessable(&self, prefix: &str) -> String {
        let mut bytes = [0; 16];
        self.entropy.fill(&mut bytes);
        format!("{prefix}-{}", uuid::Builder::from_random_bytes(bytes).into_uuid())
    }

    /// `<prefix>-<UUID version 7>`: sorts by the time it was made.
    pub fn time_ordered(&self, prefix: &str, now: Timestamp) -> String {
        let mut bytes = [0; 10];
        self.entropy.fill(&mut bytes);
        let milliseconds = u64::try_from(now.as_millisecond()).unwrap_or(0);
        format!("{prefix}-{}", uuid::Builder::from_unix_timestamp_millis(milliseconds, &bytes).into_uuid())
    }

    /// A UUID version 4 alone, as request ids and operation tokens are.
    pub fn uuid(&self) -> Uuid {
        let mut bytes = [0; 16];
        self.entropy.fill(&mut bytes);
        uuid::Builder::from_random_bytes(bytes).into_uuid()
    }

    /// `length` characters of `0-9A-Za-z`, each about 5.95 bits.
    pub fn base62(&self, length: usize) -> String {
        self.draw(BASE62, length)
    }

    /// `length` characters of `0-9a-z`.
    pub fn base36(&self, length: usize) -> String {
        self.draw(BASE36, length)
    }

    /// Random bytes, such as a nonce or a pepper.
    pub fn bytes<const N: usize>(&self) -> [u8; N] {
        let mut bytes = [0; N];
        self.entropy.fill(&mut bytes);
        bytes
    }

    /// Draws without bias: a byte above the last whole multiple of the alphabet is thrown away.
    fn draw(&self, alphabet: &[u8], length: usize) -> String {
        let fair = 256 / alphabet.len() * alphabet.len();
        let mut text = String::with_capacity(length);
        let mut pool = [0_u8; 64];
        while text.len() < length {
            self.entropy.fill(&mut pool);
            let drawn = pool.iter().filter(|byte| usize::from(**byte) < fair);
            text.extend(drawn.map(|byte| char::from(alphabet[usize::from(*byte) % alphabet.len()])).take(length - text.len()));
        }
        text
    }
}

/// `number` in base 62, padded with zeros to `width`.
pub(crate) fn base62_number(mut number: u64, width: usize) -> String {
    let mut digits = vec![b'0'; width];
    for digit in digits.iter_mut().rev() {
        *digit = BASE62[usize::try_from(number % 62).expect("a remainder of 62 is small")];
        number /= 62;
    }
    String::from_utf8(digits).expect("the alphabet is ASCII")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_ordered_ids_sort_by_the_millisecond_they_were_made_in() {
        let ids = Ids::default();
        let early = ids.time_ordered("a", Timestamp::from_millisecond(1_750_000_000_000).unwrap());
        let late = ids.time_ordered("a", Timestamp::from_millisecond(1_750_000_000_001).unwrap());
        assert!(early < late, "{early} < {late}");
        assert_eq!(&early[16..17], "7", "{early} is a UUID of version 7");
    }

    #[test]
    fn random_text_uses_the_whole_alphabet_and_nothing_else() {
        let text = Ids::default().base62(4000);
        assert_eq!(text.len(), 4000);
        assert!(BASE62.iter().all(|letter| text.as_bytes().contains(letter)));
        assert!(text.bytes().all(|letter| BASE62.contains(&letter)));
    }

    #[test]
    fn numbers_are_written_in_base_62_with_leading_zeros() {
        assert_eq!(base62_number(0, 6), "000000");
        assert_eq!(base62_number(61, 6), "00000z");
        assert_eq!(base62_number(62, 6), "000010");
        assert_eq!(base62_number(u64::from(u32::MAX), 6), "4gfFC3");
    }
}
