// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The reason why a configuration cannot be used.
package struct ConfigurationError: Error, CustomStringConvertible {
    /// The path of the file as it was given; nil for the command line.
    package var file: String?
    /// The line in the file, from 1; nil where no line is to blame.
    package var line: Int?
    /// The error, as a sentence without a final period.
    package let text: String

    /// Makes an error.
    ///
    /// - Parameters:
    ///   - file: The path of the file; nil for the command line.
    ///   - line: The line in the file, from 1; nil for none.
    ///   - text: The error, as a sentence without a final period.
    package init(file: String? = nil, line: Int? = nil, text: String) {
        self.file = file
        self.line = line
        self.text = text
    }

    /// The error as one line: `FILE:LINE: text`.
    package var description: String {
        guard let file else { return text }
        return line.map { "\(file):\($0): \(text)" } ?? "\(file): \(text)"
    }
}
