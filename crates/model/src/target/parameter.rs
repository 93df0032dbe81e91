//! Parameters in braces in the command and the variables of a target: `node server.js --pool
//! {pool}`.
use crate::plan::scan::Values;
use crate::target::manifest::{Manifest, PLACEHOLDERS, Start};
use crate::target::project::world::{TargetService, World};

/// Gives a parameter one of its values: in the command, its folder and its variables, where its name
/// is in braces. `workers` is also `{WORKERS}` and the variable `WORKERS`. A name in capitals that
/// is nowhere in braces is an environment variable.
///
/// # Errors
/// If nothing takes it, or only the build does, which all values share.
pub fn set(manifest: &mut Manifest, values: &Values, value: &str) -> Result<(), String> {
    let name = values.parameter.as_str();
    let own = format!("{{{name}}}");
    let steps = manifest.install.iter().flat_map(|install| install.steps.iter().flatten());
    if steps.into_iter().any(|word| word.contains(&own)) {
        return Err(format!(
            "{own} is in `build`, but all values are built in one folder, so that the last build would count for all; pass it in `command` or `env`"
        ));
    }
    let start = &mut manifest.start;
    if values.is_workers() {
        for name in ["{WORKERS}", "{workers}"] {
            replace(start, name, value);
        }
        start.env.insert("WORKERS".into(), value.into());
        return Ok(());
    }
    if PLACEHOLDERS.contains(&name) {
        return Err(format!("{name} is a variable that Pippin sets; scan another one"));
    }
    if replace(start, &own, value) {
        return Ok(());
    }
    if !values.is_variable() {
        return Err(format!(
            "nothing takes `{name}`: write {own} in the command or in a value of `env`; a name in capitals would be an environment variable"
        ));
    }
    start.env.insert(name.into(), value.into());
    Ok(())
}

/// Refuses a parameter in the commands around the start of a target or in its services: there it would
/// stay as it is written.
///
/// # Errors
/// If one of them names it; the message says which, and the fix.
pub fn refuse_around(world: &World, parameter: &str) -> Result<(), String> {
    let own = format!("{{{parameter}}}");
    let has = |text: &String| text.contains(&own);
    for (key, commands) in
        [("migrate", &world.migrate), ("prepare", &world.prepare), ("cleanup", &world.cleanup)]
    {
        if commands.iter().flatten().any(has) {
            return Err(elsewhere(&own, &format!("`{key}`")));
        }
    }
    for service in &world.services {
        let TargetService::Own(service) = service else { continue };
        let words = service.command.iter().chain(service.ready.command());
        let mut texts = words.chain(service.env.values());
        if texts.any(has) {
            return Err(elsewhere(&own, &format!("[service.{}]", service.name)));
        }
    }
    Ok(())
}

fn elsewhere(own: &str, place: &str) -> String {
    format!(
        "{own} is in {place}, where no parameter is replaced; write its value there, and {own} only in `command` or `env` of the target"
    )
}

/// Replaces a name in braces by a value. Returns whether there was one.
fn replace(start: &mut Start, name: &str, value: &str) -> bool {
    let texts = start.command.iter_mut().chain(start.env.values_mut());
    let mut found = false;
    for text in texts.filter(|text| text.contains(name)) {
        *text = text.replace(name, value);
        found = true;
    }
    if let Some(folder) = start.folder.as_mut().filter(|it| it.to_string_lossy().contains(name)) {
        *folder = folder.to_string_lossy().replace(name, value).into();
        found = true;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::project::world::{OwnService, Shown};

    fn manifest() -> Manifest {
        toml::from_str(
            "schema = 1\nname = 'shop'\nlanguage = 'own'\nframework = 'shop'\nruntime = 'own'\nworkloads = ['hello']\n[start]\ncommand = ['serve']\nready = { path = '/', timeout = '1s' }\n",
        )
        .unwrap()
    }

    fn started(command: &str, with: &str) -> Result<String, String> {
        let mut manifest = manifest();
        manifest.start.command = command.split(' ').map(Into::into).collect();
        manifest.start.env = [("LEVEL".into(), "l{level}".into())].into();
        let values = Values::parse(with).unwrap();
        set(&mut manifest, &values, &values.values[1])?;
        let env = manifest.start.env.iter().map(|(name, value)| format!("{name}={value}"));
        Ok(format!("{} {}", env.collect::<Vec<_>>().join(" "), manifest.start.command.join(" ")))
    }

    #[test]
    fn a_parameter_is_taken_by_command_variables_and_environment() {
        let of = |command, with| started(command, with).unwrap();
        assert_eq!(of("serve -p{pool}", "pool=5,10"), "LEVEL=l{level} serve -p10");
        assert_eq!(of("serve", "level=5,10"), "LEVEL=l10 serve");
        assert_eq!(of("serve", "POOL=5,10"), "LEVEL=l{level} POOL=10 serve");
        assert_eq!(of("serve {POOL}", "POOL=5,10"), "LEVEL=l{level} serve 10");
        assert_eq!(of("serve", "LEVEL=5,10"), "LEVEL=10 serve");
        assert_eq!(of("serve {WORKERS}", "workers=1,2"), "LEVEL=l{level} WORKERS=2 serve 2");
    }

    #[test]
    fn a_parameter_around_the_start_is_refused() {
        let takes = |text: &str| vec![vec!["run".to_string(), text.to_string()]];
        let world = World { prepare: takes("--size={pool}"), ..World::NONE };
        assert_eq!(refuse_around(&world, "level"), Ok(()));
        let error = refuse_around(&world, "pool").unwrap_err();
        assert!(error.starts_with("{pool} is in `prepare`, where no parameter"), "{error}");
        let own = OwnService {
            name: "search".into(),
            command: vec!["search".into()],
            env: [("SIZE".to_string(), "{pool}".to_string())].into(),
            folder: None,
            ready: Shown::Port,
            ready_within: std::time::Duration::from_secs(60),
            stop: "SIGTERM".into(),
        };
        let world = World { services: vec![TargetService::Own(own)], ..World::NONE };
        let error = refuse_around(&world, "pool").unwrap_err();
        assert!(error.starts_with("{pool} is in [service.search]"), "{error}");
    }

    #[test]
    fn what_nothing_takes_is_refused() {
        let error = started("serve", "pool=5,10").unwrap_err();
        assert!(error.starts_with("nothing takes `pool`: write {pool} in the command"), "{error}");
        let error = started("serve", "PORT=5,10").unwrap_err();
        assert!(error.contains("Pippin sets"), "{error}");
        let mut built = manifest();
        built.install = Some(crate::target::manifest::Install {
            steps: vec![vec!["make".into(), "POOL={pool}".into()]],
        });
        let values = Values::parse("pool=5,10").unwrap();
        let error = set(&mut built, &values, "5").unwrap_err();
        assert!(error.starts_with("{pool} is in `build`"), "{error}");
    }
}
