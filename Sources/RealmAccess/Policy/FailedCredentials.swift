// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmFormats
package import RealmPlatform
internal import RealmStorage

/// Counts invalid credentials by the address of the sender, and slows down addresses that send many.
///
/// An address may send ten in any minute. More than that are refused in another way, and valid credentials from there pass all
/// the same. Up to 16,384 addresses are counted separately, others together. Any thread may use it.
package final class FailedCredentials: Sendable {
    /// The times of the last failures of each address, and totals, guarded by the lock.
    private struct State {
        /// The times of the failures in the last minute, the oldest first; at most `limit` of them.
        var times: [ByteText: [Instant]] = [:]
        /// The number of failures since the start.
        var failures = 0
        /// The number that were refused because there were too many.
        var slowed = 0
        /// The time from which addresses without recent failures may be searched for again.
        var nextSweep = Instant(nanoseconds: 0)
    }

    /// The failures that an address may have within a minute.
    package static let limit = 10
    /// The seconds for which a failure counts.
    private static let seconds = 60.0
    /// The number of addresses that are counted separately.
    private static let addressLimit = 16_384
    /// The name under which all other addresses are counted. No address has it.
    private static let others = "*"
    private let state = RankedMutex(.leaf, State())

    /// Makes counts without any failure.
    package init() {}

    /// Counts a failure.
    ///
    /// - Parameters:
    ///   - address: The address, or the common beginning of the addresses of one client.
    ///   - now: The time of the request.
    /// - Returns: nil when the address may fail once more; otherwise the seconds until it may.
    package func count(_ address: String, _ now: Instant) -> Double? {
        state.withLock { state in
            state.failures += 1
            let name = FailedCredentials.name(address, &state, now)
            var times = (state.times[name] ?? []).filter { now.seconds(since: $0) < FailedCredentials.seconds }
            guard times.count < FailedCredentials.limit else {
                state.slowed += 1
                state.times[name] = times
                return FailedCredentials.seconds - now.seconds(since: times[0])
            }
            times.append(now)
            state.times[name] = times
            return nil
        }
    }

    /// Returns the name under which an address is counted.
    private static func name(_ address: String, _ state: inout State, _ now: Instant) -> String {
        guard state.times.count >= addressLimit, state.times[address] == nil else { return address }
        guard now >= state.nextSweep else { return others }
        state.nextSweep = now.adding(seconds: 1)
        state.times = state.times.filter { $0.value.contains { now.seconds(since: $0) < seconds } }
        return state.times.count < addressLimit ? address : others
    }

    /// The number of addresses that are remembered, which is bounded.
    package var addressCount: Int { state.withLock { $0.times.count } }

    /// Writes the metrics of the counts.
    ///
    /// - Parameter text: The metrics page that is being written.
    func write(to text: inout MetricsText) {
        let (failures, slowed, addresses) = state.withLock { ($0.failures, $0.slowed, $0.times.count) }
        text.counter("failed_credentials_total", "Requests whose credential was not valid.", failures)
        text.counter(
            "slowed_credentials_total", "Requests whose credential was not valid, from addresses that had sent too many of them.",
            slowed)
        text.gauge("failing_addresses", "Addresses whose failed credentials are remembered.", addresses)
    }
}
