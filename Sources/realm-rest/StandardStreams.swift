// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Whole writes to standard output and standard error.
enum StandardStreams {
    /// Thrown when the reader of our output has gone, so that a pipe ends the command quietly.
    struct OutputClosed: Error {}

    static func output(_ bytes: [UInt8]) throws { try write(bytes, to: STDOUT_FILENO) }

    static func output(_ text: String) throws { try output(Array(text.utf8)) }

    static func error(_ line: String) { try? write(Array((line + "\n").utf8), to: STDERR_FILENO) }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written < 0 {
                guard errno == EINTR else { throw OutputClosed() }
                continue
            }
            rest = rest.dropFirst(written)
        }
    }
}
