// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// The packed form of a body that is sent again and again; made when it is first asked for.
package final class PackedBody: Sendable {
    private let buffer = RankedMutex<OutputBuffer?>(.leaf, nil)

    /// Whether the packed form has been made.
    var isKnown: Bool { buffer.withLock { $0 != nil } }

    /// The packed form of `plain`; nil when it is not shorter.
    func packed(_ plain: OutputBuffer) -> OutputBuffer? {
        if let known = buffer.withLock({ $0 }) { return known }
        let packed = Gzip.deflate(plain)
        buffer.withLock { $0 = packed }
        return packed
    }
}
