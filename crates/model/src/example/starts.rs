//! Recorded first seconds of fresh servers on one processor: what they answered, and what their
//! compiler used meanwhile. And starts made from them, with a known end of the compiling.

/// A second of a start.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StartSecond {
    /// Thousand complete answers.
    pub thousands: f64,
    /// Processors that the compiler kept busy.
    pub compiling: f64,
}

/// Of ASP.NET Core 10 (.NET 10.0.401), by its thread `.NET Tiered Com`.
pub const DOTNET: [StartSecond; 16] = [
    second(63.0, 0.00),
    second(62.0, 0.00),
    second(45.0, 0.00),
    second(51.0, 0.00),
    second(60.0, 0.13),
    second(55.0, 0.00),
    second(60.0, 0.05),
    second(57.0, 0.02),
    second(56.0, 0.02),
    second(46.0, 0.00),
    second(45.0, 0.08),
    second(78.0, 0.35),
    second(102.0, 0.01),
    second(110.0, 0.00),
    second(86.0, 0.01),
    second(98.0, 0.00),
];
/// The seconds of [`DOTNET`] that are its plateau, from the first compiling to the last second
/// before its speed changes.
const PLATEAU: std::ops::Range<usize> = 4..11;

/// Of JDK 17, by its thread `C2 CompilerThre`.
pub const JDK: [StartSecond; 12] = [
    second(2.0, 0.09),
    second(11.0, 0.18),
    second(15.0, 0.23),
    second(19.0, 0.25),
    second(18.0, 0.24),
    second(20.0, 0.24),
    second(17.0, 0.30),
    second(25.0, 0.21),
    second(22.0, 0.01),
    second(26.0, 0.00),
    second(26.0, 0.00),
    second(27.0, 0.00),
];

const fn second(thousands: f64, compiling: f64) -> StartSecond {
    StartSecond { thousands, compiling }
}

/// [`DOTNET`] whose plateau comes so many times before its speed changes.
pub fn longer_plateau(times: usize) -> Vec<StartSecond> {
    let mut start = DOTNET[..PLATEAU.start].to_vec();
    (0..times).for_each(|_| start.extend_from_slice(&DOTNET[PLATEAU]));
    start.extend_from_slice(&DOTNET[PLATEAU.end..]);
    start
}

/// [`JDK`] whose compiler rests for so many seconds before the second in which it uses most.
pub fn rests_for(seconds: usize) -> Vec<StartSecond> {
    let most = 6;
    let mut start = JDK[..most].to_vec();
    let rest = StartSecond { compiling: 0.0, ..JDK[most - 1] };
    start.extend(std::iter::repeat_n(rest, seconds));
    start.extend_from_slice(&JDK[most..]);
    start
}
