//! File transfer over QUIC, whose sender has a controller of Penstock's: one of those for which quinn reports enough.
//!
//! ```text
//! transfer receive 0.0.0.0:4433 certificate.der copy.bin
//! transfer send 10.0.0.1:4433 certificate.der original.bin fast alpha=20
//! ```
//!
//! The receiver makes a certificate and writes it to the file that is named, in the place of one that is there. Then it takes files,
//! one after the other, until it is stopped. The sender waits until the certificate is there, and prints the results of the transfer.

use std::error::Error;
use std::fmt::Display;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use penstock_law::Registry;
use penstock_quinn::{Factory, LawConfig};
use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn::{ClientConfig, Endpoint, Incoming, ServerConfig, TransportConfig};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::io::AsyncWriteExt;

type Done<T> = Result<T, Box<dyn Error>>;

/// The name in the certificate.
const NAME: &str = "penstock.example";
/// The sender's wait for the receiver.
const PATIENCE: Duration = Duration::from_secs(10);
const USAGE: &str = "usage: transfer receive ADDRESS CERTIFICATE FILE\n       transfer send ADDRESS CERTIFICATE FILE LAW [KEY=NUMBER ...]";

enum Order {
    Receive { address: SocketAddr, certificate: PathBuf, file: PathBuf },
    Send { address: SocketAddr, certificate: PathBuf, file: PathBuf, factory: Factory },
}

/// Parses the command line.
fn order(words: &[String]) -> Result<Order, String> {
    let [what, address, certificate, file, rest @ ..] = words else { return Err(USAGE.to_owned()) };
    let address =
        address.parse().map_err(|e| format!("`{address}`: {e}: write an address and a port, as in 0.0.0.0:4433"))?;
    let (certificate, file) = (certificate.into(), file.into());
    match (what.as_str(), rest) {
        ("receive", []) => Ok(Order::Receive { address, certificate, file }),
        ("send", [law, settings @ ..]) => {
            let mut config = LawConfig::new(&Registry::standard(), law).map_err(|e| e.to_string())?;
            for setting in settings {
                let wrong = || format!("`{setting}`: write KEY=NUMBER, in the units of `penstock laws {law}`");
                let (key, number) = setting.split_once('=').ok_or_else(wrong)?;
                let number: f64 = number.parse().map_err(|_| wrong())?;
                config = config.set(key, number).map_err(|e| e.to_string())?;
            }
            let factory = config.build().map_err(|e| e.to_string())?;
            Ok(Order::Send { address, certificate, file, factory })
        }
        _ => Err(USAGE.to_owned()),
    }
}

/// An error with the file or the address that it is about.
fn of(what: impl Display) -> impl FnOnce(io::Error) -> String {
    move |error| format!("{what}: {error}")
}

fn provider() -> Arc<rustls::crypto::CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

/// Takes files under one name, one after the other.
async fn receive(address: SocketAddr, certificate: &Path, file: &Path) -> Done<()> {
    // That of a receiver before is not the one that a sender waits for.
    match tokio::fs::remove_file(certificate).await {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(of(certificate.display())(error).into()),
        _ => {}
    }
    let certified = rcgen::generate_simple_self_signed([NAME.to_owned()])?;
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(certified.signing_key.serialize_der()));
    let own = CertificateDer::from(certified.cert);
    let crypto = rustls::ServerConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .with_no_client_auth()
        .with_single_cert(vec![own.clone()], key)?;
    let config = ServerConfig::with_crypto(Arc::new(QuicServerConfig::try_from(crypto)?));
    let endpoint = Endpoint::server(config, address).map_err(of(address))?;
    // The sender takes the file for whole as soon as it is there.
    let beside = certificate.with_extension("new");
    tokio::fs::write(&beside, &own).await.map_err(of(beside.display()))?;
    tokio::fs::rename(&beside, certificate).await.map_err(of(certificate.display()))?;
    while let Some(incoming) = endpoint.accept().await {
        // A sender that goes away takes nothing with it.
        match take(incoming, file).await {
            Ok(bytes) => println!("received {bytes} B"),
            Err(error) => eprintln!("transfer: {error}"),
        }
    }
    Ok(())
}

/// Takes one file: how many bytes it has.
async fn take(incoming: Incoming, file: &Path) -> Done<u64> {
    let connection = incoming.await?;
    let mut stream = connection.accept_uni().await?;
    let mut copy = tokio::fs::File::create(file).await.map_err(of(file.display()))?;
    let bytes = tokio::io::copy(&mut stream, &mut copy).await.map_err(of(file.display()))?;
    copy.flush().await.map_err(of(file.display()))?;
    // The sender closes the connection once it knows that everything arrived.
    let mut answer = connection.open_uni().await?;
    answer.write_all(&bytes.to_be_bytes()).await?;
    answer.finish()?;
    connection.closed().await;
    Ok(bytes)
}

/// The certificate of the receiver, as soon as it is there.
async fn awaited(certificate: &Path) -> Done<CertificateDer<'static>> {
    let there = async {
        loop {
            if let Ok(bytes) = tokio::fs::read(certificate).await {
                return CertificateDer::from(bytes);
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let late = format!("no receiver wrote {} within {} s", certificate.display(), PATIENCE.as_secs());
    tokio::time::timeout(PATIENCE, there).await.map_err(|_| late.into())
}

/// Sends one file.
async fn send(address: SocketAddr, certificate: &Path, file: &Path, factory: Factory) -> Done<()> {
    let law = factory.law();
    let data = tokio::fs::read(file).await.map_err(of(file.display()))?;
    let mut roots = rustls::RootCertStore::empty();
    roots.add(awaited(certificate).await?)?;
    let crypto = rustls::ClientConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let mut transport = TransportConfig::default();
    transport.congestion_controller_factory(Arc::new(factory));
    let mut config = ClientConfig::new(Arc::new(QuicClientConfig::try_from(crypto)?));
    config.transport_config(Arc::new(transport));

    let any: SocketAddr = if address.is_ipv4() { ([0, 0, 0, 0], 0).into() } else { ([0u16; 8], 0).into() };
    let endpoint = Endpoint::client(any)?;
    let connection = endpoint.connect_with(config, address, NAME)?.await?;
    let start = tokio::time::Instant::now();
    let mut stream = connection.open_uni().await?;
    stream.write_all(&data).await?;
    stream.finish()?;
    let mut answer = connection.accept_uni().await?;
    let mut bytes = [0; 8];
    answer.read_exact(&mut bytes).await?;
    let (arrived, took_s) = (u64::from_be_bytes(bytes), start.elapsed().as_secs_f64());
    let path = connection.stats().path;
    connection.close(0u32.into(), b"done");
    endpoint.wait_idle().await;
    if arrived != data.len() as u64 {
        return Err(format!("{arrived} of {} B arrived", data.len()).into());
    }
    println!(
        "{law}: {arrived} B in {took_s:.2} s, {:.2} Mbit/s, {} packets lost, round-trip time {:.1} ms, window {} B",
        8e-6 * arrived as f64 / took_s,
        path.lost_packets,
        1e3 * path.rtt.as_secs_f64(),
        path.cwnd,
    );
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let order = match order(&words) {
        Ok(order) => order,
        Err(wrong) => {
            eprintln!("transfer: {wrong}");
            return ExitCode::from(2);
        }
    };
    let done = match order {
        Order::Receive { address, certificate, file } => receive(address, &certificate, &file).await,
        Order::Send { address, certificate, file, factory } => send(address, &certificate, &file, factory).await,
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("transfer: {error}");
            ExitCode::FAILURE
        }
    }
}
