//! The environment of child processes, and how programs are found in it.
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The variables of Pippin's environment that children inherit: what package managers need to reach
/// their registries. All others are left out, so that a trial does not depend on the shell in which
/// it was started.
const INHERITED: [&str; 31] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "LANG",
    "LC_ALL",
    "TMPDIR",
    "TERM",
    "CI",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "GOPROXY",
    "GOFLAGS",
    "GOPATH",
    "GOMODCACHE",
    "GOCACHE",
    "GOTOOLCHAIN",
    "GONOSUMDB",
    "GOSUMDB",
    "NODE_EXTRA_CA_CERTS",
    "PIP_INDEX_URL",
    "JAVA_HOME",
];

/// What children inherit.
#[must_use]
pub fn inherited() -> BTreeMap<String, String> {
    INHERITED
        .iter()
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

/// What targets inherit: as [`inherited`], but without proxies and the variables of continuous
/// integration. A server with a proxy setting would send its upstream calls there.
#[must_use]
pub fn for_targets() -> BTreeMap<String, String> {
    without_proxies(inherited())
}

/// What the user's own commands inherit: everything but proxies and the variables of continuous
/// integration.
#[must_use]
pub fn of_the_user() -> BTreeMap<String, String> {
    without_proxies(
        std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect(),
    )
}

fn without_proxies(mut env: BTreeMap<String, String>) -> BTreeMap<String, String> {
    env.retain(|name, _| !name.to_ascii_lowercase().contains("proxy") && name != "CI");
    env
}

/// Replaces `{NAME}` by the variable's value; a placeholder without a value becomes empty.
#[must_use]
pub fn fill(text: &str, values: &BTreeMap<String, String>) -> String {
    pippin_model::target::manifest::PLACEHOLDERS.iter().fold(text.to_string(), |text, name| {
        let placeholder = format!("{{{name}}}");
        if text.contains(&placeholder) {
            text.replace(&placeholder, values.get(*name).map_or("", String::as_str))
        } else {
            text
        }
    })
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

    #[test]
    fn placeholders_are_replaced_and_other_braces_stay() {
        let values = BTreeMap::from([("PORT".to_string(), "8080".to_string())]);
        assert_eq!(fill("-p {PORT} {DATABASE_URL}{x}", &values), "-p 8080 {x}");
    }

    #[test]
    fn programs_are_found_on_the_path_only() {
        assert!(find_program_in("sh", "/usr/bin:/bin").is_some());
        assert!(find_program_in("sh", "/nonexistent").is_none());
    }
}
