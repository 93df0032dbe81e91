//! Formats figures for people.

/// 100000 as `100,000`.
#[must_use]
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Bytes as `1.5 GiB`, `300 MiB`, `12 KiB`.
#[must_use]
pub fn bytes(bytes: u64) -> String {
    let units = [(1_u64 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match units.into_iter().find(|(size, _)| bytes >= *size) {
        Some((size, "GiB")) => format!("{:.1} GiB", bytes as f64 / size as f64),
        Some((size, unit)) => format!("{} {unit}", bytes / size),
        None => format!("{bytes} bytes"),
    }
}

/// 0.025 as `2.5 %`.
#[must_use]
pub fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_readable() {
        assert_eq!(
            [0, 12, 999, 1000, 65_535, 1_234_567].map(grouped),
            ["0", "12", "999", "1,000", "65,535", "1,234,567"]
        );
        assert_eq!(
            [512, 12_288, 314_572_800, 1_610_612_736].map(bytes),
            ["512 bytes", "12 KiB", "300 MiB", "1.5 GiB"]
        );
        assert_eq!(percent(0.025), "2.5 %");
    }
}
