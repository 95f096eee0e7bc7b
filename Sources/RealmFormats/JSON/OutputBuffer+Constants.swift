// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

extension OutputBuffer {
    /// Returns a new buffer that contains a text in UTF-8.
    package static func text(_ text: String) -> OutputBuffer {
        let buffer = OutputBuffer(capacity: text.utf8.count)
        buffer.append(text)
        return buffer
    }

    /// Returns a new buffer that contains a constant text of the program.
    package static func constant(_ text: StaticString) -> OutputBuffer {
        let buffer = OutputBuffer(capacity: text.utf8CodeUnitCount)
        buffer.append(text)
        return buffer
    }
}
