// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Metrics that parts of the server contribute; asked for each time `/metrics` is read.
package final class MetricsRegistry: Sendable {
    package typealias Source = @Sendable (inout MetricsText) -> Void

    private let sources = RankedMutex<[Source]>(.leaf, [])

    package init() {}

    package func add(_ source: @escaping Source) { sources.withLock { $0.append(source) } }

    package var text: String {
        HeldLocks.assertNone()
        var text = MetricsText()
        for source in sources.withLock({ $0 }) { source(&text) }
        return text.text
    }
}
