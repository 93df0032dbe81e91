//! A self-signed certificate for a target that Pippin starts. Only the loads of this start trust
//! it.
use pippin_model::load::tls::TlsSpec;
use rcgen::{CertifiedKey, generate_simple_self_signed};
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// The name that the certificate is for, besides `localhost`.
const NAME: &str = "127.0.0.1";

/// Certificate and key as files, which are removed when this is dropped.
#[derive(Debug)]
pub struct Certificate {
    /// The certificate in PEM form.
    pub certificate: PathBuf,
    /// Its key in PEM form, which only this user may read.
    pub key: PathBuf,
    root_pem: String,
}

impl Certificate {
    /// A new one, in files of this name in a folder, which may be relative.
    ///
    /// # Errors
    /// If there is no randomness for a key, or the files cannot be written.
    pub fn issue(folder: &Path, name: &str) -> io::Result<Self> {
        let names = vec![NAME.into(), "localhost".into()];
        let CertifiedKey { cert, signing_key } =
            generate_simple_self_signed(names).map_err(io::Error::other)?;
        // A target runs in its own folder.
        let folder = std::path::absolute(folder)?;
        let files = Self {
            certificate: folder.join(format!("{name}.crt")),
            key: folder.join(format!("{name}.key")),
            root_pem: cert.pem(),
        };
        write(&files.certificate, &files.root_pem)?;
        write(&files.key, &signing_key.serialize_pem())?;
        Ok(files)
    }

    /// What lets a client trust it.
    #[must_use]
    pub fn trust(&self) -> TlsSpec {
        TlsSpec {
            server_name: NAME.into(),
            extra_roots_pem: Some(self.root_pem.clone()),
            verify: true,
            resume: false,
            client: None,
        }
    }
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())
}

impl Drop for Certificate {
    fn drop(&mut self) {
        // If it cannot be removed, nothing is lost: the key is of no use any more.
        let _ = fs::remove_file(&self.certificate);
        let _ = fs::remove_file(&self.key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn its_files_are_private_and_gone_at_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let certificate = Certificate::issue(folder.path(), "go-x-h2").unwrap();
        let mode = fs::metadata(&certificate.key).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert!(
            fs::read_to_string(&certificate.certificate).unwrap().contains("BEGIN CERTIFICATE")
        );
        let trust = certificate.trust();
        assert!(trust.verify && trust.extra_roots_pem.unwrap().contains("BEGIN CERTIFICATE"));
        drop(certificate);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
