//! Generators: the programs that send the flows of a run.

/// The sender of the flows that respond to losses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Generator {
    /// Sockets of this process.
    #[default]
    Own,
    /// A client of iperf3 for each flow, and a server.
    Iperf3,
    /// A client of quinn or s2n-quic for each flow, and a server.
    Quic,
}
