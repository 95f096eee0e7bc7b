// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// The compressed form of a response body that is kept to be sent again. It is made when a client
/// that accepts gzip asks for the first time.
///
/// A cached response and all its copies share one; a lock guards it.
package final class PackedBody: Sendable {
    private let buffer = RankedMutex<OutputBuffer?>(.leaf, nil)

    /// Whether the compressed form exists, so that `packed(_:)` returns at once.
    var isKnown: Bool { buffer.withLock { $0 != nil } }

    /// Returns the compressed form, and makes it if this is the first call.
    ///
    /// Two threads that call at the same time may both compress; the results are equal, and one is
    /// kept.
    ///
    /// - Parameter plain: The body, the same one at each call.
    /// - Returns: A gzip stream; nil when zlib has no memory.
    func packed(_ plain: OutputBuffer) -> OutputBuffer? {
        if let known = buffer.withLock({ $0 }) { return known }
        let packed = Gzip.deflate(plain)
        buffer.withLock { $0 = packed }
        return packed
    }
}
