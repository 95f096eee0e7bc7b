// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The times spent on one request: the parts of the header field `Server-Timing`, each in seconds.
///
/// A request has one only if the server was started with that option.
package struct ServerTiming: Sendable {
    /// The seconds that the request waited for a worker.
    package var queue = 0.0
    /// The seconds that the request waited for the writer.
    package var lock = 0.0
    /// The seconds that finding the result took.
    package var query = 0.0
    /// The seconds that writing the result as JSON or another format took.
    package var encode = 0.0

    /// Makes the timing of a request that has spent no time yet.
    package init() {}

    /// The value of the header field `Server-Timing`, which states milliseconds.
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

/// Writing times in milliseconds, as `Server-Timing` and the access log state them.
extension OutputBuffer {
    /// Appends a time in milliseconds with three decimal places.
    ///
    /// - Parameter seconds: The time in seconds. It is limited to the range from 0 to 1e9.
    package func append(milliseconds seconds: Double) {
        let microseconds = Int64(min(max(seconds, 0), 1e9) * 1e6)
        append(decimal: microseconds / 1000)
        append(UInt8(ascii: "."))
        append(padded: Int(microseconds % 1000), width: 3)
    }
}
