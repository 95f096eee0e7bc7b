// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Collects the metrics of all parts of the server each time `/metrics` is requested.
///
/// Each part adds a source when the server is made. Nothing is counted here. Any thread may call it.
package final class MetricsRegistry: Sendable {
    /// Writes the metrics of one part of the server, as they are at the moment of the call.
    package typealias Source = @Sendable (inout MetricsText) -> Void

    /// The parts of the server that write metrics, in the order in which they were added.
    private let sources = RankedMutex<[Source]>(.leaf, [])

    /// Makes a registry that knows no metrics yet.
    package init() {}

    /// Adds a source, which stays for the life of the registry.
    ///
    /// - Parameter source: Called on the thread that answers `/metrics`, without a lock, after the
    ///   sources that were added before it.
    package func add(_ source: @escaping Source) { sources.withLock { $0.append(source) } }

    /// All metrics at this moment, in the Prometheus text format.
    package var text: String {
        HeldLocks.assertNone()
        var text = MetricsText()
        for source in sources.withLock({ $0 }) { source(&text) }
        return text.text
    }
}
