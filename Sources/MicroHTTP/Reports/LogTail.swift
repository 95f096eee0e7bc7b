// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The last lines of the log, kept in memory for administrators.
///
/// Lines are numbered from 1 in the order in which they were written. The tail has at most 256 KiB, and twice that for a moment; older lines
/// are forgotten. It is a value: who shares it guards it.
package struct LogTail: Sendable {
    /// The number of bytes that are kept at least, once there are as many.
    package static let byteLimit = 256 << 10
    /// The greatest number of lines that are asked for at a time.
    package static let lineLimit = 1000

    package struct Line: Sendable, Equatable {
        /// The number of the line.
        package let number: Int
        /// The line without its end.
        package let text: String
    }

    /// The kept lines, each with its end.
    private var bytes: [UInt8] = []
    /// The number of the first line that is kept.
    private var firstNumber = 1
    /// The number of the line that comes next.
    private var nextNumber = 1

    /// Makes a tail without lines.
    package init() {}

    /// The number of the last line; 0 before there is one.
    package var lastNumber: Int { nextNumber - 1 }

    /// Appends whole lines.
    ///
    /// - Parameter lines: The lines, each with its end.
    /// - Complexity: O(n) in the number of bytes, on average.
    package mutating func append(_ lines: [UInt8]) {
        bytes += lines
        nextNumber += lines.count { $0 == LogTail.lineEnd }
        guard bytes.count > 2 * LogTail.byteLimit else { return }
        let cut = bytes[(bytes.count - LogTail.byteLimit)...].firstIndex(of: LogTail.lineEnd).map { $0 + 1 } ?? bytes.count
        firstNumber += bytes[..<cut].count { $0 == LogTail.lineEnd }
        bytes.removeFirst(cut)
    }

    /// Returns the first lines after one that is known, or the last lines.
    ///
    /// - Parameters:
    ///   - number: The number of the last line that is known; nil for the last lines.
    ///   - limit: The greatest number of lines.
    package func lines(after number: Int?, limit: Int) -> [Line] {
        let all = bytes.split(separator: LogTail.lineEnd, omittingEmptySubsequences: false).dropLast()
        let lines = all.enumerated().lazy.map { Line(number: firstNumber + $0, text: String(decoding: $1, as: UTF8.self)) }
        guard let number else { return Array(lines.suffix(limit)) }
        return Array(lines.dropFirst(max(0, number + 1 - firstNumber)).prefix(limit))
    }

    /// The end of every line.
    private static let lineEnd = UInt8(ascii: "\n")
}
