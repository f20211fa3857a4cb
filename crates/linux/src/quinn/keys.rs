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

/// A new certificate of its own authority, and its key (PKCS #8), both in DER.
pub(crate) fn certificate() -> io::Result<(CertificateDer<'static>, Vec<u8>)> {
    let certified = rcgen::generate_simple_self_signed([NAME.to_owned()]).map_err(io::Error::other)?;
    Ok((CertificateDer::from(certified.cert), certified.signing_key.serialize_der()))
}

impl Keys {
    pub(crate) fn new() -> io::Result<Self> {
        let (own, key) = certificate()?;
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key));
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
