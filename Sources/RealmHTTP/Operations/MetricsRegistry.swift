// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Metrics that parts of the server contribute; asked for each time `/metrics` is read.
package final class MetricsRegistry: Sendable {
    package typealias Source = @Sendable (inout MetricsText) -> Void

    private let sources = RankedMutex<[Source]>(.leaf, [])

    /// A registry without sources.
    package init() {}

    /// Adds a source. Sources are asked in the order in which they came, by whatever thread reads the metrics, and stay for
    /// good.
    package func add(_ source: @escaping Source) { sources.withLock { $0.append(source) } }

    /// The text of all metrics at this moment.
    package var text: String {
        HeldLocks.assertNone()
        var text = MetricsText()
        for source in sources.withLock({ $0 }) { source(&text) }
        return text.text
    }
}
