//! Files of vectors, by which implementations of a law are compared. The first byte says of which law.

use penstock_kernel::kernel_laws::KERNEL_LAWS;
use penstock_kernel::vectors::Vectors;

use super::files;

/// Vectors are read, or an error says on which line they are not; whatever is read can be computed.
///
/// # Panics
/// If not.
pub fn check(data: &[u8]) {
    let Some((which, text)) = data.split_first() else { return };
    let kernel_law = &KERNEL_LAWS[usize::from(*which) % KERNEL_LAWS.len()];
    match Vectors::parse(kernel_law, "fuzz.txt", &String::from_utf8_lossy(text)) {
        Err(error) => assert!(error.line > 0 && !error.to_string().is_empty()),
        Ok(vectors) => {
            for vector in &vectors {
                let _ = kernel_law.in_rust(&vector.call);
            }
        }
    }
}

/// The beginning of each file of the repository.
pub fn seeds() -> Vec<Vec<u8>> {
    let start = |text: Vec<u8>| {
        let lines = String::from_utf8_lossy(&text).lines().take(20).collect::<Vec<_>>().join("\n");
        lines.into_bytes()
    };
    let mut seeds = Vec::new();
    for (at, kernel_law) in KERNEL_LAWS.iter().enumerate() {
        for text in files("vectors", &format!("{}.txt", kernel_law.name)) {
            seeds.push([vec![at as u8], start(text)].concat());
        }
    }
    seeds
}
