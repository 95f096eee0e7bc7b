// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import RealmPlatform
internal import RealmStorage

/// Measures the time of closures.
///
/// Each result is the median of several runs after one that warms up, or the fastest of them,
/// which other work on the machine disturbs less.
struct Harness {
    /// The number of timed runs for each result.
    let runs: Int
    /// Whether the fastest run is reported instead of the median.
    var takesLeast = false

    /// Returns the time of one call of `body` in nanoseconds.
    ///
    /// - Parameters:
    ///   - repetitions: The number of calls in each run, for work that is short compared with
    ///     the clock.
    ///   - body: The work to measure; an error ends the measurement.
    func nanoseconds(repetitions: Int = 1, _ body: () throws -> Void) rethrows -> Double {
        try body()
        var times: [Double] = []
        for _ in 0..<runs {
            let begin = Harness.now()
            for _ in 0..<repetitions { try body() }
            times.append(Double(Harness.now() - begin) / Double(repetitions))
        }
        return times.sorted()[takesLeast ? 0 : times.count / 2]
    }

    /// Returns the time of one call of `body` in milliseconds.
    func milliseconds(_ body: () throws -> Void) rethrows -> Double { try nanoseconds(body) / 1e6 }

    /// Returns the monotonic time in nanoseconds.
    static func now() -> UInt64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}

/// Keeps a result alive, so that the optimizer cannot remove the work that made it.
@inline(never) func keep<Value>(_ value: Value) { withExtendedLifetime(value) {} }

/// Returns the median of values, of which there is at least one.
func median(_ values: some Collection<Double>) -> Double { values.sorted()[values.count / 2] }

/// Formats a number.
///
/// - Parameters:
///   - decimals: The number of digits after the decimal point.
///   - width: The number of columns, in which the text is right-aligned.
func fixed(_ value: Double, decimals: Int = 3, width: Int = 10) -> String {
    var text = [CChar](repeating: 0, count: 64)
    _ = unsafe withVaList([value]) { unsafe vsnprintf(&text, text.count, "%.\(decimals)f", unsafe $0) }
    let plain = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return String(repeating: " ", count: max(0, width - plain.count)) + plain
}

/// Returns a text with spaces added up to `width` columns.
func padded(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
}
