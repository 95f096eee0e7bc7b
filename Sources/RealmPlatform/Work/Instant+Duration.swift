// SPDX-License-Identifier: Apache-2.0

extension Instant {
    /// Returns the instant that is later by `duration`; the distant future for more than about 30 years.
    package func adding(_ duration: Duration) -> Instant { adding(seconds: duration.inSeconds) }

    /// Returns the time from `earlier` to this instant; zero when `earlier` is later.
    package func duration(since earlier: Instant) -> Duration {
        nanoseconds > earlier.nanoseconds ? .nanoseconds(Int64(clamping: nanoseconds - earlier.nanoseconds)) : .zero
    }
}

extension Duration {
    /// The duration in seconds, with the fraction.
    package var inSeconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) / 1e18
    }
}
