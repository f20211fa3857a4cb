//! A certificate, made on the spot, and what both ends of QUIC make of it.

use std::io;
use std::sync::Arc;

use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

/// The name in the certificate.
pub(crate) const NAME: &str = "penstock.example";

/// The settings of both ends. Nothing else knows the certificate.
pub(crate) struct Keys {
    pub(crate) server: Arc<QuicServerConfig>,
    pub(crate) client: Arc<QuicClientConfig>,
}

impl Keys {
    pub(crate) fn new() -> io::Result<Self> {
        let certified = rcgen::generate_simple_self_signed([NAME.to_owned()]).map_err(io::Error::other)?;
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(certified.signing_key.serialize_der()));
        let own = CertificateDer::from(certified.cert);
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let versions = [&rustls::version::TLS13];
        let server = rustls::ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(&versions)
            .and_then(|builder| builder.with_no_client_auth().with_single_cert(vec![own.clone()], key))
            .map_err(io::Error::other)?;
        let mut roots = rustls::RootCertStore::empty();
        roots.add(own).map_err(io::Error::other)?;
        let client = rustls::ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&versions)
            .map_err(io::Error::other)?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Self {
            server: Arc::new(QuicServerConfig::try_from(server).map_err(io::Error::other)?),
            client: Arc::new(QuicClientConfig::try_from(client).map_err(io::Error::other)?),
        })
    }
}
