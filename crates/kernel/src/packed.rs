//! Objects for the kernel, which are packed where the build script compiled them.

/// The bytes of an object as the parser wants them: its words aligned, as bytes that were included are not. An object that a law
/// outside of this crate brings is an ELF file and no zlib stream, and stays as it is.
pub(crate) fn plain(object: &[u8]) -> Vec<u8> {
    miniz_oxide::inflate::decompress_to_vec_zlib(object).unwrap_or_else(|_| object.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packed_object_comes_back_and_a_plain_one_stays() {
        let object = b"\x7fELF\x02\x01\x01 and more of the same, and more of the same";
        let packed = miniz_oxide::deflate::compress_to_vec_zlib(object, 9);
        for bytes in [&object[..], &packed] {
            assert_eq!(plain(bytes), object);
        }
        assert!(plain(&[]).is_empty());
    }
}
