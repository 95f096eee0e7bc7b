// SPDX-License-Identifier: Apache-2.0

import Glibc
internal import RealmPlatform
import RealmStorage

/// Writes complete texts to standard output and standard error.
///
/// Writes are repeated until all bytes are written, and are not buffered.
enum StandardStreams {
    /// The error when the reader of standard output has closed it, as `head` does. The command then ends without a message.
    struct OutputClosed: Error {}

    /// Writes bytes to standard output; throws `OutputClosed` when they cannot be written.
    static func output(_ bytes: [UInt8]) throws { try write(bytes, to: STDOUT_FILENO) }

    /// Writes a text to standard output; throws `OutputClosed` when it cannot be written.
    static func output(_ text: String) throws { try output(Array(text.utf8)) }

    /// Writes lines to standard error, in the form of `printable`. An error is ignored, because it
    /// could not be reported either.
    static func error(_ lines: String) {
        let shown = lines.split(separator: "\n", omittingEmptySubsequences: false).map { printable(String($0)) }
        try? write(Array((shown.joined(separator: "\n") + "\n").utf8), to: STDERR_FILENO)
    }

    /// Writes all bytes to a file descriptor; throws `OutputClosed` when they cannot be written.
    private static func write(_ bytes: [UInt8], to descriptor: Int32) throws {
        do {
            try System.write(descriptor, bytes)
        } catch {
            throw OutputClosed()
        }
    }

    /// Returns a text without characters that control a terminal or change the order of the text around them.
    static func printable(_ text: String) -> String {
        var shown = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            let category = scalar.properties.generalCategory
            shown.append([.control, .format, .lineSeparator, .paragraphSeparator].contains(category) ? "\u{fffd}" : scalar)
        }
        return String(shown)
    }
}
