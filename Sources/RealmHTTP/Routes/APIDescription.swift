// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// The description of the interface of one server as JSON. Each of its forms is made when it is first asked for, and kept.
final class APIDescription: Sendable {
    private let limits: Limits
    private let texts = RankedMutex<[OpenAPIDocument.Integers: String]>(.leaf, [:])

    /// The description of a server with these limits.
    init(_ limits: Limits) { self.limits = limits }

    /// The document, with integers written in this way.
    func text(_ ints: OpenAPIDocument.Integers) -> String {
        if let known = texts.withLock({ $0[ints] }) { return known }
        let text = OpenAPIDocument.api(version: Build.version, ints: ints, limits: limits).json
        texts.withLock { $0[ints] = text }
        return text
    }
}
