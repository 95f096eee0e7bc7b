// SPDX-License-Identifier: Apache-2.0

package import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The compressed forms of a response body that is kept to be sent again. Each is made when a client
/// that accepts it asks for the first time.
///
/// A cached response and all its copies share one; a lock guards it.
package final class PackedBody: Sendable {
    private let buffers = RankedMutex<[ContentCoding: OutputBuffer]>(.leaf, [:])

    /// Makes a body without compressed forms.
    package init() {}

    /// Whether a compressed form exists, so that `packed(_:_:)` returns at once.
    package func isKnown(_ coding: ContentCoding) -> Bool { buffers.withLock { $0[coding] != nil } }

    /// Returns a compressed form, and makes it if this is the first call.
    ///
    /// Two threads that call at the same time may both compress; the results are equal, and one is kept.
    ///
    /// - Parameters:
    ///   - plain: The body, the same one at each call.
    ///   - coding: The form.
    /// - Returns: A compressed stream; nil when there is no memory.
    package func packed(_ plain: OutputBuffer, _ coding: ContentCoding) -> OutputBuffer? {
        if let known = buffers.withLock({ $0[coding] }) { return known }
        let packed = coding.compress(plain)
        buffers.withLock { $0[coding] = packed }
        return packed
    }
}
