// SPDX-License-Identifier: Apache-2.0

package import RealmStorage

/// Writes JSON text into one growing buffer, in one pass and without building a document first.
///
/// The writer puts commas and colons; it trusts its caller to open and close in order. Text that is not valid UTF-8
/// is the caller's decision: `string(_:)` reports it, so that nothing is ever replaced silently.
package struct JSONWriter: Sendable {
    /// The text so far.
    package private(set) var bytes: [UInt8] = []
    /// Whether the next value or key needs a comma before it.
    private var needsComma = false

    package init(reservingCapacity capacity: Int = 0) { bytes.reserveCapacity(capacity) }

    package var count: Int { bytes.count }

    /// Forgets the text and keeps the memory.
    package mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        needsComma = false
    }

    /// Hands the text out and starts anew with the same capacity.
    package mutating func take() -> [UInt8] {
        let text = bytes
        bytes = []
        bytes.reserveCapacity(text.count)
        return text
    }

    /// Forgets text that was handed on, in the middle of a document.
    package mutating func forgetBytes() { bytes.removeAll(keepingCapacity: true) }

    /// Takes back everything after `length`, a `count` read before; the comma state is that of an open container.
    package mutating func truncate(to length: Int, needsComma: Bool) {
        bytes.removeLast(bytes.count - length)
        self.needsComma = needsComma
    }

    // MARK: - Structure

    package mutating func beginObject() { open(0x7b) }
    package mutating func endObject() { close(0x7d) }
    package mutating func beginArray() { open(0x5b) }
    package mutating func endArray() { close(0x5d) }

    private mutating func open(_ byte: UInt8) {
        separate()
        bytes.append(byte)
        needsComma = false
    }

    private mutating func close(_ byte: UInt8) {
        bytes.append(byte)
        needsComma = true
    }

    @inline(__always) private mutating func separate() {
        if needsComma { bytes.append(0x2c) }
        needsComma = true
    }

    /// A member name, escaped.
    package mutating func key(_ name: String) {
        string(name)
        bytes.append(0x3a)
        needsComma = false
    }

    /// A member name given as bytes; false when they are not valid UTF-8, and then nothing was written.
    package mutating func key(_ name: ByteView) -> Bool {
        guard string(name) else { return false }
        bytes.append(0x3a)
        needsComma = false
        return true
    }

    /// A member name with quotes and colon, escaped before by `JSONWriter.escapedKey`.
    @inline(__always) package mutating func key(escaped name: [UInt8]) {
        if needsComma { bytes.append(0x2c) }
        bytes.append(contentsOf: name)
        needsComma = false
    }

    /// `"name":` as bytes, for `key(escaped:)`.
    package static func escapedKey(_ name: String) -> [UInt8] {
        var writer = JSONWriter()
        writer.key(name)
        return writer.bytes
    }

    // MARK: - Values

    package mutating func null() { raw("null") }
    package mutating func bool(_ value: Bool) { raw(value ? "true" : "false") }

    /// Text that is JSON already.
    package mutating func raw(_ text: StaticString) {
        separate()
        text.withUTF8Buffer { bytes.append(contentsOf: $0) }
    }

    package mutating func raw(_ text: [UInt8]) {
        separate()
        bytes.append(contentsOf: text)
    }

    /// Bytes between values: a line break, or a piece of another format.
    package mutating func plain(_ byte: UInt8) { bytes.append(byte) }

    /// Starts the next value without a comma: a line of NDJSON.
    package mutating func newLine() {
        bytes.append(0x0a)
        needsComma = false
    }

    package mutating func int(_ value: some FixedWidthInteger) {
        separate()
        NumberText.append(value, to: &bytes)
    }

    /// The shortest decimal that reads back as the same value, always with `.` or `e`; NaN and infinities as text.
    package mutating func double(_ value: Double) {
        separate()
        NumberText.append(value, to: &bytes)
    }

    package mutating func float(_ value: Float) {
        separate()
        NumberText.append(value, to: &bytes)
    }

    package mutating func string(_ text: String) {
        separate()
        bytes.append(0x22)
        var text = text
        text.withUTF8 { JSONText.appendEscaped($0, to: &bytes) }
        bytes.append(0x22)
    }

    /// A string given as bytes; false when they are not valid UTF-8, and then nothing was written.
    @discardableResult
    package mutating func string(_ text: ByteView) -> Bool {
        let length = bytes.count
        let hadComma = needsComma
        separate()
        bytes.append(0x22)
        let isValid = text.withBuffer { JSONText.appendValidated($0, to: &bytes) }
        guard isValid else {
            truncate(to: length, needsComma: hadComma)
            return false
        }
        bytes.append(0x22)
        return true
    }

    /// A string of characters that need no escape: digits, hex, base64, dates.
    package mutating func plainString(_ text: some Collection<UInt8>) {
        separate()
        bytes.append(0x22)
        bytes.append(contentsOf: text)
        bytes.append(0x22)
    }

    /// A string that `body` writes; it must need no escape.
    package mutating func plainString(_ body: (inout [UInt8]) -> Void) {
        separate()
        bytes.append(0x22)
        body(&bytes)
        bytes.append(0x22)
    }
}
