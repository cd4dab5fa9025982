internal import CLinux

/// Lets blocks of 128 KiB and more go back to the kernel as soon as they are freed.
///
/// The library raises the bound by itself to the largest block that was ever freed, up to 32 MiB, and
/// what one large message took would stay with the process.
package func giveLargeBlocksBack() {
    _ = clx_set_mmap_threshold(1 << 17)
}
