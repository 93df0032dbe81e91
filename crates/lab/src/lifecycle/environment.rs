//! The environment of child processes, and how programs are found in it.
use pippin_model::target::manifest::{PLACEHOLDERS, placeholders};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The variables of Pippin's environment that all children inherit. All others are left out, so
/// that a trial does not depend on the shell in which it was started.
const INHERITED: [&str; 22] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "LANG",
    "LC_ALL",
    "TMPDIR",
    "TERM",
    "CI",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "GOPATH",
    "GOMODCACHE",
    "GOCACHE",
    "GOTOOLCHAIN",
    "NODE_EXTRA_CA_CERTS",
    "JAVA_HOME",
    "DOTNET_ROOT",
    "GEM_HOME",
];

/// What only installs inherit: where package managers find their registries and mirrors, and the
/// proxies on the way. Their URLs often hold passwords, and a server has no use for them.
const OF_REGISTRIES: [&str; 34] = [
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "GOPROXY",
    "GOFLAGS",
    "GONOSUMDB",
    "GONOSUMCHECK",
    "GOPRIVATE",
    "GOSUMDB",
    "GOAUTH",
    "PIP_INDEX_URL",
    "PIP_EXTRA_INDEX_URL",
    "PIP_CONFIG_FILE",
    "UV_INDEX_URL",
    "UV_DEFAULT_INDEX",
    "UV_INDEX",
    "NPM_CONFIG_REGISTRY",
    "npm_config_registry",
    "NPM_CONFIG_USERCONFIG",
    "YARN_REGISTRY",
    "HEX_MIRROR",
    "HEX_CDN",
    "PERL_CPANM_OPT",
    "BUNDLE_MIRROR__HTTPS://RUBYGEMS__ORG/",
    "BUNDLE_RUBYGEMS__ORG",
    "NUGET_PACKAGES",
    "NUGET_CONFIG",
    "NuGetPackageSourceCredentials",
    "MAVEN_ARGS",
];

/// What installs and version commands of targets from the catalog inherit.
#[must_use]
pub fn inherited() -> BTreeMap<String, String> {
    INHERITED
        .iter()
        .chain(&OF_REGISTRIES)
        .filter_map(|name| Some(((*name).to_string(), std::env::var(name).ok()?)))
        .collect()
}

/// What tells docker and podman where their daemons, registries and files are: without it they are
/// not those that the user meant, and podman without root finds nothing.
const OF_RUNTIMES: [&str; 13] = [
    "DOCKER_HOST",
    "DOCKER_CONTEXT",
    "DOCKER_CONFIG",
    "DOCKER_CERT_PATH",
    "DOCKER_TLS_VERIFY",
    "CONTAINER_HOST",
    "CONTAINERS_CONF",
    "CONTAINERS_STORAGE_CONF",
    "REGISTRY_AUTH_FILE",
    "XDG_RUNTIME_DIR",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "DBUS_SESSION_BUS_ADDRESS",
];

/// What docker and podman see. Nothing of it is in the containers.
#[must_use]
pub fn for_runtimes() -> BTreeMap<String, String> {
    let mut env = inherited();
    env.extend(
        OF_RUNTIMES.iter().filter_map(|name| Some(((*name).into(), std::env::var(name).ok()?))),
    );
    env
}

/// What targets inherit: as [`inherited`], but without registries, proxies, passwords in URLs, and
/// the variables of continuous integration. A server with a proxy setting would send its upstream
/// calls there.
#[must_use]
pub fn for_targets() -> BTreeMap<String, String> {
    let env = without_registries(inherited());
    env.into_iter().filter(|(_, value)| !has_password(value)).collect()
}

/// What the user's own commands inherit: everything but registries, proxies and the variables of
/// continuous integration. The URL of the user's own database stays, with its password.
#[must_use]
pub fn of_the_user() -> BTreeMap<String, String> {
    without_registries(of_this_process())
}

/// What the user's own builds and version commands inherit: everything, as with make. A build that
/// works in this shell works here, and what its server sees, it sees too.
#[must_use]
pub fn of_the_users_builds() -> BTreeMap<String, String> {
    of_this_process()
}

fn of_this_process() -> BTreeMap<String, String> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}

fn without_registries(mut env: BTreeMap<String, String>) -> BTreeMap<String, String> {
    env.retain(|name, _| {
        !OF_REGISTRIES.contains(&name.as_str())
            && !name.to_ascii_lowercase().contains("proxy")
            && name != "CI"
    });
    env
}

/// Whether a value holds a URL with a password: `https://user:password@host/`. A token in the place
/// of the user counts too.
fn has_password(value: &str) -> bool {
    value.match_indices("://").any(|(at, _)| {
        let rest = &value[at + 3..];
        let end = rest.find(|c: char| matches!(c, '/' | '?' | '#') || c.is_whitespace());
        rest[..end.unwrap_or(rest.len())].contains('@')
    })
}

/// Replaces `{NAME}` by the variable's value; a placeholder of Pippin's without a value becomes empty.
#[must_use]
pub fn fill(text: &str, values: &BTreeMap<String, String>) -> String {
    let names = PLACEHOLDERS.into_iter().chain(values.keys().map(String::as_str));
    names.fold(text.to_string(), |text, name| {
        let placeholder = format!("{{{name}}}");
        if text.contains(&placeholder) {
            text.replace(&placeholder, values.get(name).map_or("", String::as_str))
        } else {
            text
        }
    })
}

/// Those variables whose placeholders all have values, filled in. Before a server is started, nobody
/// knows its `{PORT}`.
#[must_use]
pub fn known(
    env: &BTreeMap<String, String>,
    values: &BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    let is_known = |text: &str| placeholders(text).all(|name| values.contains_key(name));
    let known = env.iter().filter(|(_, text)| is_known(text));
    known.map(|(name, text)| (name.clone(), fill(text, values))).collect()
}

/// What a user's own build sees of the variables of its server: those that are [`known`], without
/// `NODE_ENV`. Where that is `production`, npm, pnpm and yarn leave out the devDependencies, and
/// those compile the server.
#[must_use]
pub fn of_a_build(
    env: &BTreeMap<String, String>,
    values: &BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    let mut env = known(env, values);
    env.remove("NODE_ENV");
    env
}

/// The first executable of this name on PATH.
#[must_use]
pub fn find_program(name: &str) -> Option<PathBuf> {
    find_program_in(name, &std::env::var("PATH").unwrap_or_default())
}

/// The first executable of this name in a PATH.
#[must_use]
pub fn find_program_in(name: &str, path: &str) -> Option<PathBuf> {
    use std::os::unix::fs::PermissionsExt;
    let executable = |file: &Path| {
        file.metadata()
            .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
    };
    // Debian keeps servers such as nginx in folders that are not on an ordinary user's PATH.
    let system = ["/usr/local/sbin", "/usr/sbin"].map(PathBuf::from);
    std::env::split_paths(path)
        .chain(system)
        .map(|folder| folder.join(name))
        .find(|file| executable(file))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect()
    }

    #[test]
    fn placeholders_are_replaced_and_other_braces_stay() {
        let values = BTreeMap::from([("PORT".to_string(), "8080".to_string())]);
        assert_eq!(fill("-p {PORT} {DATABASE_URL}{x}", &values), "-p 8080 {x}");
    }

    #[test]
    fn variables_of_what_is_not_known_yet_are_left_out() {
        let env = given(&[("A", "{S3_PORT}{x}"), ("B", "127.0.0.1:{PORT}"), ("C", "{}")]);
        let values = given(&[("S3_PORT", "7")]);
        assert_eq!(known(&env, &values), given(&[("A", "7{x}"), ("C", "{}")]));
    }

    #[test]
    fn targets_see_no_registries_and_no_passwords() {
        let env = given(&[
            ("PATH", "/bin"),
            ("PIP_INDEX_URL", "https://mirror.example/"),
            ("HEX_MIRROR", "https://mirror.example/"),
            ("HTTPS_PROXY", "http://proxy:1"),
            ("Grpc_Proxy", "x"),
            ("CI", "true"),
        ]);
        assert_eq!(without_registries(env), given(&[("PATH", "/bin")]));
        for (value, has) in [
            ("https://user:secret@host/simple", true),
            ("a https://token@host", true),
            ("https://host/a@b", false),
            ("https://host?x=a@b", false),
            ("user@host", false),
        ] {
            assert_eq!(has_password(value), has, "{value}");
        }
        // Installs do see them.
        for name in ["HEX_MIRROR", "NPM_CONFIG_REGISTRY", "PERL_CPANM_OPT", "UV_INDEX_URL"] {
            assert!(OF_REGISTRIES.contains(&name));
        }
    }

    /// What a command needs to run, it needs to be built.
    #[test]
    fn the_users_builds_see_all_that_the_users_servers_see() {
        let (builds, servers) = (of_the_users_builds(), of_the_user());
        assert!(servers.iter().all(|(name, value)| builds.get(name) == Some(value)));
        let installs = inherited();
        assert!(installs.iter().all(|(name, value)| builds.get(name) == Some(value)));
        // Cargo sets it for tests, and no list of ours names it.
        assert!(builds.contains_key("CARGO_MANIFEST_DIR"));
    }

    #[test]
    fn a_build_sees_what_is_known_and_installs_the_tools_that_compile() {
        let env = given(&[
            ("NODE_ENV", "production"),
            ("RAILS_ENV", "production"),
            ("POOL", "{pool}"),
            ("LISTEN", "127.0.0.1:{PORT}"),
        ]);
        assert_eq!(
            of_a_build(&env, &given(&[("pool", "5")])),
            given(&[("RAILS_ENV", "production"), ("POOL", "5")])
        );
    }

    #[test]
    fn programs_are_found_on_the_path_only() {
        assert!(find_program_in("sh", "/usr/bin:/bin").is_some());
        assert!(find_program_in("sh", "/nonexistent").is_none());
    }
}
