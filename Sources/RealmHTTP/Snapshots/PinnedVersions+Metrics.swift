// SPDX-License-Identifier: Apache-2.0

extension MetricsRegistry {
    /// Adds how many versions are held, and how many were dropped.
    func addSnapshots(_ pinned: PinnedVersions) {
        add { [weak pinned] text in
            guard let pinned else { return }
            text.single("snapshots", .gauge, help: "Versions that clients hold.", value: Double(pinned.count))
            text.single(
                "snapshots_dropped_total", .counter, help: "Snapshots ended because versions or disk space ran short.",
                value: Double(pinned.droppedCount))
        }
    }
}
