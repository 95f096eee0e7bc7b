// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmTestSupport
import Testing

/// Clients that only ever apply change sets, against what reading says.
@Suite("Replay of change sets under random writes")
struct ReplayTests {
    /// `REALM_REST_REPLAY_SEEDS=FIRST-LAST` runs others.
    private static let seeds: Range<UInt64> = {
        if let text = ProcessInfo.processInfo.environment["REALM_REST_REPLAY_SEEDS"] {
            let bounds = text.split(separator: "-").compactMap { UInt64($0) }
            if let first = bounds.first, let last = bounds.last, first <= last { return first..<last + 1 }
        }
        return 0..<(TestRun.isLong ? 1000 : 15)
    }()

    @Test
    func
        `B24, B28, D4, D16, D52, D61: a client that applies change sets has what a fresh read has, also when it comes back after a while, or after a restart`()
    {
        for seed in ReplayTests.seeds {
            do {
                var workload = try ReplayWorkload(seed: seed)
                try workload.run(steps: 8)
            } catch {
                Issue.record("seed \(seed): \(error)")
            }
        }
    }
}
