//! Draws which requests are of another kind, and which answers are examined
//! ([`pippin_model::load::Surprises`]). A request costs two decrements, and rarely a random
//! number.
use pippin_model::load::LoadSpec;
use pippin_model::workload::draw::Draw;
use std::hash::{BuildHasher, Hasher, RandomState};

/// The surprises of one thread of a load.
#[derive(Debug)]
pub(crate) struct Surprises {
    draw: Draw,
    /// Requests of the usual kind are the first ones of the list, those of another kind the rest.
    usual: u32,
    others: u32,
    until_other: Countdown,
    until_examined: Countdown,
    content_type: Option<String>,
    examined: Look,
}

/// How an answer is looked at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Look {
    /// Its head has not come.
    #[default]
    Undecided,
    /// As its check says.
    Checked,
    /// Its media type too.
    Head,
    /// Its media type, and the referee gets the body.
    Whole,
}

impl Surprises {
    /// For the thread with this stream of random numbers, of a load with so many templates. The
    /// numbers begin with the seed and with bits of the kernel's, which no server can know.
    pub fn new(spec: &LoadSpec, stream: u32, templates: u32) -> Self {
        let of_kernel = RandomState::new().build_hasher().finish();
        Self::with(
            spec,
            Draw::new(spec.seed ^ of_kernel ^ u64::from(stream).rotate_left(32)),
            templates,
        )
    }

    fn with(spec: &LoadSpec, mut draw: Draw, templates: u32) -> Self {
        let wanted = spec.surprises.clone().unwrap_or_default();
        let others = wanted.others.min(templates.saturating_sub(1));
        let every = if others > 0 { wanted.others_every } else { 0 };
        Self {
            usual: templates - others,
            others,
            until_other: Countdown::new(every, &mut draw),
            until_examined: Countdown::new(wanted.examined_every, &mut draw),
            content_type: wanted.content_type,
            examined: if wanted.by_referee { Look::Whole } else { Look::Head },
            draw,
        }
    }

    /// The template to be sent instead of this one, whose turn it is: mostly itself.
    #[inline]
    pub fn instead_of(&mut self, template: u32) -> u32 {
        if self.until_other.is_now(&mut self.draw) && template < self.usual {
            self.usual + self.draw.below(u64::from(self.others)) as u32
        } else {
            template
        }
    }

    /// The template whose turn it is after this one.
    #[inline]
    pub fn after(&mut self, template: u32) -> u32 {
        match template + 1 {
            next if next < self.usual => next,
            next if next == self.usual => 0,
            // A request of another kind was sent again. Where its user stood is forgotten.
            _ => self.draw.below(u64::from(self.usual)) as u32,
        }
    }

    /// How the answer to a request of this template is looked at; asked when its head has come.
    #[inline]
    pub fn look(&mut self, template: u32) -> Look {
        if self.until_examined.is_now(&mut self.draw) && template < self.usual {
            self.examined
        } else {
            Look::Checked
        }
    }

    /// The media type that examined answers must have.
    #[inline]
    pub fn content_type(&self) -> Option<&str> {
        self.content_type.as_deref()
    }
}

/// Counts to a random number, again and again.
#[derive(Debug)]
struct Countdown {
    every: u32,
    left: u64,
}

impl Countdown {
    /// Ends once in `every` on average; never if that is 0.
    const fn new(every: u32, draw: &mut Draw) -> Self {
        let mut new = Self { every, left: u64::MAX };
        if every > 0 {
            new.begin(draw);
        }
        new
    }

    /// From 1 to twice the mean less 1, all alike: short loads have one for sure, and wherever one
    /// was, each of the next requests may be another.
    const fn begin(&mut self, draw: &mut Draw) {
        self.left = 1 + draw.below(2 * self.every as u64 - 1);
    }

    #[inline]
    const fn is_now(&mut self, draw: &mut Draw) -> bool {
        self.left -= 1;
        if self.left > 0 {
            return false;
        }
        self.begin(draw);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pippin_model::load::Request;
    use pippin_model::load::Surprises as Wanted;

    fn surprises(seed: u64, others_every: u32, examined_every: u32) -> Surprises {
        let wanted = Wanted { others: 3, others_every, examined_every, ..Wanted::default() };
        let requests = (0..10).map(|i| Request::get(&format!("/{i}"), "a")).collect();
        let spec = LoadSpec { requests, surprises: Some(wanted), ..LoadSpec::default() };
        Surprises::with(&spec, Draw::new(seed), 10)
    }

    /// At which requests, of so many, another kind is sent.
    fn places(seed: u64, count: u32) -> Vec<u32> {
        let mut surprises = surprises(seed, 100, 0);
        (0..count).filter(|_| surprises.instead_of(2) >= 7).collect()
    }

    #[test]
    fn one_in_so_many_is_of_another_kind_and_no_two_gaps_repeat_for_long() {
        let places = places(1, 100_000);
        assert!((900..1_100).contains(&places.len()), "{}", places.len());
        let gaps: Vec<u32> = places.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(gaps.iter().all(|gap| (1..200).contains(gap)));
        // Whatever period a server guesses, it is wrong most of the time.
        let most = (1..200).map(|guess| gaps.iter().filter(|gap| **gap == guess).count()).max();
        assert!(most.unwrap() * 20 < gaps.len(), "{most:?} of {}", gaps.len());
    }

    #[test]
    fn a_short_load_has_one_for_sure_and_another_seed_has_it_elsewhere() {
        let firsts: Vec<u32> = (0..200).map(|seed| places(seed, 199)[0]).collect();
        let different: std::collections::BTreeSet<&u32> = firsts.iter().collect();
        assert!(different.len() > 80, "{}", different.len());
    }

    #[test]
    fn usual_templates_follow_each_other_and_others_come_in_between_only() {
        let mut surprises = surprises(3, 5, 4);
        let (mut turn, mut examined) = (0, 0);
        for nth in 0..7_000 {
            assert_eq!(turn, nth % 7);
            let sent = surprises.instead_of(turn);
            assert!(sent == turn || (7..10).contains(&sent));
            let look = surprises.look(sent);
            assert!(sent < 7 || look == Look::Checked, "others are not examined");
            examined += u32::from(look == Look::Head);
            turn = surprises.after(turn);
        }
        assert!((1_000..1_800).contains(&examined), "{examined}");
        assert!((0..100).all(|_| surprises.after(9) < 7), "an other one that is sent again");
    }

    #[test]
    fn a_load_without_surprises_has_none() {
        let mut none = Surprises::new(&LoadSpec::default(), 0, 2);
        for _ in 0..1_000 {
            assert_eq!((none.instead_of(0), none.after(0), none.after(1)), (0, 1, 0));
            assert_eq!(none.look(0), Look::Checked);
        }
    }

    #[test]
    fn two_loads_of_one_seed_differ() {
        let spec = LoadSpec {
            surprises: Some(Wanted { examined_every: 100, ..Wanted::default() }),
            ..LoadSpec::default()
        };
        let examined = || {
            let mut surprises = Surprises::new(&spec, 0, 1);
            (0..1_000).map(|_| surprises.look(0) == Look::Head).collect::<Vec<_>>()
        };
        assert_ne!(examined(), examined());
    }
}
