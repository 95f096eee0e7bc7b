// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Times closures: each figure is the median of several runs after one that warms up, or the least of them, which a
/// machine with other work disturbs less.
struct Harness {
    /// Timed runs per figure.
    let runs: Int
    var takesLeast = false

    /// The time of one call of `body` in nanoseconds; `body` is called `repetitions` times per run.
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

    /// The time of one call of `body` in milliseconds.
    func milliseconds(_ body: () throws -> Void) rethrows -> Double { try nanoseconds(body) / 1e6 }

    /// Monotonic time in nanoseconds.
    static func now() -> UInt64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}

/// Keeps results alive, so that the optimiser cannot drop the work that made them.
@inline(never) func keep<Value>(_ value: Value) { withExtendedLifetime(value) {} }

/// `value` with `decimals` digits behind the point, right-aligned in `width` columns.
func fixed(_ value: Double, decimals: Int = 3, width: Int = 10) -> String {
    var text = [CChar](repeating: 0, count: 64)
    _ = unsafe withVaList([value]) { unsafe vsnprintf(&text, text.count, "%.\(decimals)f", unsafe $0) }
    let plain = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return String(repeating: " ", count: max(0, width - plain.count)) + plain
}

/// `text` filled up with blanks to `width` columns.
func padded(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
}
