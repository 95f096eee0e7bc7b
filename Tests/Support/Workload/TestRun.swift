// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// How much the tests of this process do.
package enum TestRun {
    /// Whether there is time for more rounds, larger files and longer series.
    package static let isLong = ProcessInfo.processInfo.environment["REALM_REST_LONG_TESTS"] != nil

    /// Where files that were written by workloads are kept for other programs: `REALM_REST_WORKLOAD_FILES=FOLDER`.
    package static let keptFiles: String? = ProcessInfo.processInfo.environment["REALM_REST_WORKLOAD_FILES"]

    /// `REALM_REST_WORKLOAD_SEEDS=N`, else what is given.
    package static func seeds(quick: Int, long: Int) -> [UInt64] {
        let count = ProcessInfo.processInfo.environment["REALM_REST_WORKLOAD_SEEDS"].flatMap { Int($0) }
        return (0..<(count ?? (isLong ? long : quick))).map { UInt64($0 + 1) }
    }
}
