//! `--reference TARGET`: the target that the others are compared with.
use pippin_model::target::TargetId;
use pippin_model::text::file::nearest;

use crate::exit::CliError;

/// The target of this name among those of a run; `None` if none was given, which means the best
/// one.
pub fn among(name: Option<&str>, targets: &[TargetId]) -> Result<Option<TargetId>, CliError> {
    let Some(name) = name else { return Ok(None) };
    let found = targets.iter().find(|target| target.to_string() == name);
    found.cloned().map(Some).ok_or_else(|| {
        let names: Vec<String> = targets.iter().map(ToString::to_string).collect();
        let hint = match nearest(name, names.iter().map(String::as_str)) {
            Some(near) => format!("did you mean {near}?"),
            None => format!("it has {}", names.join(", ")),
        };
        CliError::User(format!("--reference: the run has no target `{name}`; {hint}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_reference_is_refused_with_the_nearest_name() {
        let targets = ["go/net-http", "rust/axum"].map(|name| name.parse().unwrap());
        let of = |name| among(name, &targets).map_err(|error| error.to_string());
        assert_eq!(of(None), Ok(None));
        assert_eq!(of(Some("rust/axum")), Ok(Some(targets[1].clone())));
        let near = of(Some("rust/axumm")).unwrap_err();
        assert!(near.contains("no target `rust/axumm`; did you mean rust/axum?"), "{near}");
        let far = of(Some("x")).unwrap_err();
        assert!(far.ends_with("it has go/net-http, rust/axum"), "{far}");
    }
}
