// SPDX-License-Identifier: Apache-2.0

package import RealmStorage

/// Writes JSON text into a buffer, in one pass and without building a document first.
///
/// The writer puts commas and colons; it trusts its caller to open and close in order. Text that is not valid UTF-8
/// is the caller's decision: `string(_:)` reports it, so that nothing is ever replaced silently.
package struct JSONWriter: Sendable {
    /// The text that was written so far, and whatever stood in the buffer before.
    package let buffer: OutputBuffer
    /// Whether the next value or key needs a comma before it.
    private var needsComma = false

    /// Appends to `buffer`, as the first thing there or after a comma of the caller's.
    package init(_ buffer: OutputBuffer) { self.buffer = buffer }

    /// A writer into a new buffer, with room for so many bytes before it has to grow.
    package init(reservingCapacity capacity: Int = 512) { buffer = OutputBuffer(capacity: capacity) }

    /// How many bytes were written.
    package var count: Int { buffer.count }

    /// A copy of the text so far.
    package var bytes: [UInt8] { buffer.array }

    /// A place to go back to.
    package struct Mark: Sendable {
        fileprivate let count: Int
        fileprivate let needsComma: Bool
    }

    /// The place that was reached, to come back to.
    package var mark: Mark { Mark(count: buffer.count, needsComma: needsComma) }

    /// Takes back everything written behind `mark`.
    package mutating func goBack(to mark: Mark) {
        buffer.truncate(to: mark.count)
        needsComma = mark.needsComma
    }

    /// Forgets text that was handed on, in the middle of a document.
    package mutating func forgetBytes() { buffer.removeAll() }

    /// Notes that a value was written by somebody else, so that the next one is separated from it.
    package mutating func noteValue() { needsComma = true }

    // MARK: - Structure

    /// Opens an object. Members are a name (`key`) and a value each, until `endObject`.
    package mutating func beginObject() { open(UInt8(ascii: "{")) }
    /// Closes the innermost object.
    package mutating func endObject() { close(UInt8(ascii: "}")) }
    /// Opens an array, whose values follow until `endArray`.
    package mutating func beginArray() { open(UInt8(ascii: "[")) }
    /// Closes the innermost array.
    package mutating func endArray() { close(UInt8(ascii: "]")) }

    private mutating func open(_ byte: UInt8) {
        separate()
        buffer.append(byte)
        needsComma = false
    }

    private mutating func close(_ byte: UInt8) {
        buffer.append(byte)
        needsComma = true
    }

    @inline(__always) private mutating func separate() {
        if needsComma { buffer.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    /// A member name that needs no escape.
    package mutating func key(_ name: StaticString) {
        separate()
        buffer.append(UInt8(ascii: "\""))
        buffer.append(name)
        buffer.append("\":" as StaticString)
        needsComma = false
    }

    /// A member name, escaped.
    package mutating func key(_ name: String) {
        separate()
        buffer.append(jsonString: name)
        buffer.append(UInt8(ascii: ":"))
        needsComma = false
    }

    /// A member name given as bytes; false when they are not valid UTF-8, and then nothing was written.
    package mutating func key(_ name: ByteView) -> Bool {
        guard string(name) else { return false }
        buffer.append(UInt8(ascii: ":"))
        needsComma = false
        return true
    }

    /// A member name with quotes and colon that was escaped before: a part of `names`.
    @inline(__always) package mutating func key(in names: [UInt8], _ range: Range<Int>) {
        if needsComma { buffer.append(UInt8(ascii: ",")) }
        // In bounds: ranges are those that the names were made with.
        unsafe names.withUnsafeBufferPointer { unsafe buffer.append(UnsafeBufferPointer(rebasing: $0[range])) }
        needsComma = false
    }

    /// The beginning of an object up to a member's colon, made before: `{"class":"Dog","key":`.
    package mutating func objectPrefix(_ prefix: [UInt8]) {
        separate()
        buffer.append(prefix)
        needsComma = false
    }

    // MARK: - Values

    /// Writes null.
    package mutating func null() { raw("null") }
    /// Writes true or false.
    package mutating func bool(_ value: Bool) { raw(value ? "true" : "false") }

    /// Text that is JSON already.
    package mutating func raw(_ text: StaticString) {
        separate()
        buffer.append(text)
    }

    /// Writes a value that is JSON already. It is copied as it is.
    package mutating func raw(_ text: [UInt8]) {
        separate()
        buffer.append(text)
    }

    /// Starts the next value on a new line without a comma, as NDJSON does.
    package mutating func newLine() {
        buffer.append(UInt8(ascii: "\n"))
        needsComma = false
    }

    /// Writes an integer in decimal digits.
    package mutating func int(_ value: some FixedWidthInteger) {
        separate()
        if let number = Int64(exactly: value) { buffer.append(decimal: number) } else { buffer.append(String(value)) }
    }

    /// The shortest decimal that reads back as the same value, always with `.` or `e`; NaN and infinities as text.
    package mutating func double(_ value: Double) {
        separate()
        if !buffer.append(shortest: value) { buffer.append(special: value) }
    }

    /// Writes the shortest text that reads back as the same float; NaN and the infinities become strings.
    package mutating func float(_ value: Float) {
        separate()
        if !buffer.append(shortest: value) { buffer.append(special: Double(value)) }
    }

    /// Writes a string with what has to be escaped in it.
    package mutating func string(_ text: String) {
        separate()
        buffer.append(jsonString: text)
    }

    /// A string given as bytes; false when they are not valid UTF-8, and then nothing was written.
    @discardableResult
    package mutating func string(_ text: ByteView) -> Bool {
        let length = buffer.count
        let hadComma = needsComma
        separate()
        guard buffer.append(jsonString: text) else {
            buffer.truncate(to: length)
            needsComma = hadComma
            return false
        }
        return true
    }

    /// A string of characters that need no escape: digits, hex, base64, dates.
    package mutating func plainString(_ text: [UInt8]) {
        separate()
        buffer.append(UInt8(ascii: "\""))
        buffer.append(text)
        buffer.append(UInt8(ascii: "\""))
    }

    /// Lets `write` put one value straight into the buffer.
    package mutating func value(_ write: (OutputBuffer) throws -> Void) rethrows {
        separate()
        try write(buffer)
    }
}

extension JSONWriter {
    /// Writes a member with a string.
    package mutating func member(_ name: StaticString, text: String) {
        key(name)
        string(text)
    }

    /// Writes a member with a string, or with null.
    package mutating func member(_ name: StaticString, text: String?) {
        key(name)
        if let text { string(text) } else { null() }
    }

    /// Writes a member with an integer.
    package mutating func member(_ name: StaticString, int value: some FixedWidthInteger) {
        key(name)
        int(value)
    }

    /// Writes a member with true or false.
    package mutating func member(_ name: StaticString, bool: Bool) {
        key(name)
        self.bool(bool)
    }

    /// Writes a member with null.
    package mutating func nullMember(_ name: StaticString) {
        key(name)
        null()
    }
}
