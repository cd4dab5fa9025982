internal import JSON

/// How much one connection may ask its holder to keep.
@usableFromInline
package struct ConnectionLimits: Sendable {
    /// The longest frame that is read, in bytes, without its NUL.
    package var frameBytesMax = 16 << 20
    /// Complete calls that may wait before the connection wants no more input.
    @usableFromInline
    package var callsWaitingMax = 4096
    /// Bytes of waiting calls, likewise; a frame that is not complete yet may exceed it.
    @usableFromInline
    package var inputBytesMax = 16 << 20
    /// Bytes of unsent replies, likewise.
    @usableFromInline
    package var outputBytesMax = 4 << 20
    /// How deep arrays and objects may nest in a frame.
    package var depthMax = JSONDocument.depthMaxDefault

    /// How many values and keys a call may have, about: what parsing it costs follows from them rather than from
    /// its length.
    package var tokensMax = 65_536

    /// Makes the limits above.
    package init() {}

    /// Storage up to this size is kept for the next frame; more is given back after a burst.
    static let storageKept = 4096
}
