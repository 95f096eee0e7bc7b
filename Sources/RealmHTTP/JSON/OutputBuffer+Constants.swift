// SPDX-License-Identifier: Apache-2.0

extension OutputBuffer {
    /// A buffer that holds `text` and nothing else.
    static func text(_ text: String) -> OutputBuffer {
        let buffer = OutputBuffer(capacity: text.utf8.count)
        buffer.append(text)
        return buffer
    }

    /// A buffer that holds a text of the source code.
    static func constant(_ text: StaticString) -> OutputBuffer {
        let buffer = OutputBuffer(capacity: text.utf8CodeUnitCount)
        buffer.append(text)
        return buffer
    }
}
