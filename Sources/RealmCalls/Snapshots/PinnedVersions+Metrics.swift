// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The metrics of snapshot leases.
extension MetricsRegistry {
    /// Adds two metrics of snapshots: the number of leases at present, and the number that the
    /// server has ended early because versions or disk space ran short.
    ///
    /// The registry holds the leases weakly, so it does not keep them in memory after the server has closed.
    ///
    /// - Parameter pinned: The leases of all realms of the server.
    package func addSnapshots(_ pinned: PinnedVersions) {
        add { [weak pinned] text in
            guard let pinned else { return }
            text.gauge("snapshots", "Snapshot leases that clients hold.", pinned.count)
            text.counter(
                "snapshots_dropped_total", "Snapshots ended early because versions or disk space ran short.", pinned.droppedCount)
        }
    }
}
