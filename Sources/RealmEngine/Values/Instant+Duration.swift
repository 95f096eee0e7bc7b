// SPDX-License-Identifier: Apache-2.0

package import RealmStorage

extension Instant {
    /// The instant so much later; the distant future after more than 30 years.
    package func adding(_ duration: Duration) -> Instant { adding(seconds: duration.inSeconds) }

    /// How long ago `earlier` was at this instant; zero when it is later.
    package func duration(since earlier: Instant) -> Duration {
        nanoseconds > earlier.nanoseconds ? .nanoseconds(Int64(clamping: nanoseconds - earlier.nanoseconds)) : .zero
    }
}

extension Duration {
    /// The duration in seconds, with their fraction.
    package var inSeconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) / 1e18
    }
}
