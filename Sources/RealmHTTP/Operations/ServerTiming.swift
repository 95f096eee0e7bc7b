// SPDX-License-Identifier: Apache-2.0

/// Where the time of one request went: what the header `Server-Timing` tells, in milliseconds.
package struct ServerTiming: Sendable {
    /// Waiting for a worker.
    package var queue = 0.0
    /// Waiting for the write lock.
    package var lock = 0.0
    /// Finding the result.
    package var query = 0.0
    /// Writing it.
    package var encode = 0.0

    /// No time was spent yet.
    package init() {}

    /// The value of the header.
    package var text: String {
        let buffer = OutputBuffer(capacity: 96)
        for (name, seconds) in [("queue", queue), ("lock", lock), ("query", query), ("encode", encode)] {
            if !buffer.isEmpty { buffer.append(", " as StaticString) }
            buffer.append(name)
            buffer.append(";dur=" as StaticString)
            buffer.append(milliseconds: seconds)
        }
        return buffer.text
    }
}

extension OutputBuffer {
    /// Milliseconds with three digits after the point.
    func append(milliseconds seconds: Double) {
        let microseconds = Int64(min(max(seconds, 0), 1e9) * 1e6)
        append(decimal: microseconds / 1000)
        append(UInt8(ascii: "."))
        append(padded: Int(microseconds % 1000), width: 3)
    }
}
