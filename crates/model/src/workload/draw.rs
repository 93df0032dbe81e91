//! Random values from a seed: the same on every platform, and too many for a table.
use crate::request::DRAWN;

/// What a text with markup has inside: tags, entities and quotes, which a page must show as they are.
const MARKUP: [&str; 10] =
    ["<b>", "</td>", "</table>", "<script>", "<!--", " & ", "&lt;", "&amp;", " \"", "'>"];
const LONGEST_MARKUP: u32 = 8;

/// The fewest characters that a text with markup may have at most.
pub const LEAST_MARKED: u32 = 3 + LONGEST_MARKUP + TAIL;

const TAIL: u32 = DRAWN as u32;

/// Random numbers by SplitMix64 (Steele, Lea and Flood 2014, "Fast splittable pseudorandom number
/// generators").
#[derive(Debug, Clone)]
pub struct Draw(u64);

/// By how much the state grows with each number: an odd constant that spreads the bits of a counter.
const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

impl Draw {
    /// From a seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The numbers of a seed from a place on. Whoever draws there, and in whatever order, draws the
    /// same.
    #[must_use]
    pub const fn at(seed: u64, place: u64) -> Self {
        Self(seed.wrapping_add(place.wrapping_mul(STEP)))
    }

    /// 64 random bits.
    pub const fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`, which must not be 0. (The bias of the remainder is below 2^-32 for
    /// bounds of 32 bits.)
    pub const fn below(&mut self, bound: u64) -> u64 {
        self.bits() % bound
    }

    /// A name of 3 to `most` characters: Latin and other letters and, inside, spaces and signs that
    /// a path must encode. If there is room, it ends with [`DRAWN`] small letters, which each
    /// request can replace by others.
    pub fn name(&mut self, most: u32) -> String {
        if most < 3 + TAIL {
            return self.letters_and_signs(most);
        }
        let begin = self.letters_and_signs(most - TAIL);
        begin + &self.small_letters()
    }

    /// A text as [`Self::name`] draws them, with markup before its last letters. `most` is at least
    /// [`LEAST_MARKED`].
    pub fn marked(&mut self, most: u32) -> String {
        let begin = self.letters_and_signs(most.saturating_sub(LONGEST_MARKUP + TAIL));
        let markup = MARKUP[self.below(MARKUP.len() as u64) as usize];
        begin + markup + &self.small_letters()
    }

    /// [`DRAWN`] small letters, which each request can replace by others.
    fn small_letters(&mut self) -> String {
        (0..TAIL).map(|_| char::from(b'a' + self.below(26) as u8)).collect()
    }

    fn letters_and_signs(&mut self, most: u32) -> String {
        const LETTERS: [char; 40] = [
            'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'm', 'n', 'o', 'p', 'q',
            'r', 's', 't', 'u', 'v', 'w', 'x', 'y', 'z', 'é', 'ü', 'ø', 'ñ', 'ł', 'Ç', 'Ж', 'я',
            'λ', 'Ω', '美', '咲', 'か', '한',
        ];
        // No full stop, because routers may read the rest as a format. No percent sign, because
        // Mojolicious behind a PSGI server decodes the path a second time.
        const INSIDE: [char; 4] = [' ', '+', '\'', '-'];
        let length = 3 + self.below(u64::from(most.max(3)) - 2);
        let character = |draw: &mut Self, nth| {
            // No sign at either end, where a server may trim, and no two in a row.
            if nth % 3 == 1 && nth + 1 < length && draw.below(4) == 0 {
                INSIDE[draw.below(INSIDE.len() as u64) as usize]
            } else {
                LETTERS[draw.below(LETTERS.len() as u64) as usize]
            }
        };
        (0..length).map(|nth| character(self, nth)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn bits_are_those_of_the_published_generator() {
        // The first outputs of the authors' program for the seed 1234567.
        let mut draw = Draw::new(1_234_567);
        assert_eq!(draw.bits(), 6_457_827_717_110_365_317);
        assert_eq!(draw.bits(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn texts_with_markup_are_within_their_length_and_end_with_letters_to_be_drawn_again() {
        let mut draw = Draw::new(5);
        for most in [LEAST_MARKED, 40] {
            for _ in 0..500 {
                let text = draw.marked(most);
                assert!(text.chars().count() <= most as usize, "{text}");
                let tail = text.as_bytes().last_chunk::<8>().unwrap();
                assert!(tail.iter().all(u8::is_ascii_lowercase), "{text}");
                assert!(MARKUP.iter().any(|markup| text.contains(markup)), "{text}");
            }
        }
        assert!(MARKUP.iter().all(|it| it.chars().count() <= LONGEST_MARKUP as usize));
    }

    #[test]
    fn names_are_within_their_length_and_hold_every_kind_of_character() {
        let mut draw = Draw::new(3);
        let names: BTreeSet<String> = (0..2_000).map(|_| draw.name(40)).collect();
        assert!(names.len() > 1_990, "{} different names", names.len());
        for name in &names {
            let count = name.chars().count();
            assert!((3..=40).contains(&count), "{name}");
            assert!(!name.starts_with([' ', '.', '+', '%', '-', '\'']), "{name}");
            assert!(!name.ends_with([' ', '.', '+', '%', '-', '\'']), "{name}");
        }
        let all: String = names.into_iter().collect();
        assert!([' ', '+', '\'', 'é', '美', 'z'].iter().all(|sign| all.contains(*sign)));
    }
}
