// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform
internal import RealmStorage

/// Writes JSON text into a buffer, in one pass and without building a document first.
///
/// The writer inserts commas and colons. It relies on its caller to open and close objects and arrays in order, and to give every
/// key one value. Bytes of a file that are not valid UTF-8 are never replaced silently: `string(_:)` reports them, and the caller
/// decides on a replacement.
///
/// A writer is used by one thread at a time. Copies write into the same buffer.
package struct JSONWriter: Sendable {
    /// The buffer with the text that was written so far, after its earlier content.
    package let buffer: OutputBuffer
    /// Whether the next value or key has to be separated from the previous one by a comma.
    private var needsComma = false

    /// Makes a writer that appends to an existing buffer. Its first value gets no comma.
    ///
    /// - Parameter buffer: The buffer to append to.
    package init(_ buffer: OutputBuffer) { self.buffer = buffer }

    /// Makes a writer into a new buffer.
    ///
    /// - Parameter capacity: The number of bytes that fit before the buffer has to grow.
    package init(reservingCapacity capacity: Int = 512) { buffer = OutputBuffer(capacity: capacity) }

    /// The number of bytes in the buffer.
    package var count: Int { buffer.count }

    /// A copy of the contents of the buffer.
    package var bytes: [UInt8] { buffer.array }

    /// A place in the text that a writer can return to; see `goBack(to:)`.
    package struct Mark: Sendable {
        fileprivate let count: Int
        fileprivate let needsComma: Bool
    }

    /// The current place in the text.
    package var mark: Mark { Mark(count: buffer.count, needsComma: needsComma) }

    /// Removes everything that was written after `mark`, so that something else can be written in its place.
    ///
    /// - Parameter mark: A place of the same writer that has not been removed itself.
    package mutating func goBack(to mark: Mark) {
        buffer.truncate(to: mark.count)
        needsComma = mark.needsComma
    }

    /// Empties the buffer in the middle of a document, after its contents were handed on. Commas
    /// continue as if the text were still there.
    package mutating func forgetBytes() { buffer.removeAll() }

    /// Records that the caller appended a value to the buffer directly, so that the next one is separated from it.
    package mutating func noteValue() { needsComma = true }

    // MARK: - Structure

    /// Opens an object. Members follow, each a key and a value, until `endObject`.
    package mutating func beginObject() { open(UInt8(ascii: "{")) }
    /// Closes the innermost object.
    package mutating func endObject() { close(UInt8(ascii: "}")) }
    /// Opens an array. Its values follow until `endArray`.
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

    /// Writes the comma before a value or a key, where one is needed.
    @inline(__always) private mutating func separate() {
        if needsComma { buffer.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    /// Writes a member name with its colon; the value has to follow.
    ///
    /// - Parameter name: A constant name that needs no escape.
    package mutating func key(_ name: StaticString) {
        separate()
        buffer.append(UInt8(ascii: "\""))
        buffer.append(name)
        buffer.append("\":" as StaticString)
        needsComma = false
    }

    /// Writes a member name with its colon, escaped as needed; the value has to follow.
    ///
    /// - Parameter name: Any text.
    package mutating func key(_ name: String) {
        separate()
        buffer.append(jsonString: name)
        buffer.append(UInt8(ascii: ":"))
        needsComma = false
    }

    /// Writes a member name that is stored in a file.
    ///
    /// - Returns: False when they are not valid UTF-8; nothing was written then.
    package mutating func key(_ name: ByteView) -> Bool {
        guard string(name) else { return false }
        endKey()
        return true
    }

    /// Makes a member name of the string that was written last; the value has to follow.
    package mutating func endKey() {
        buffer.append(UInt8(ascii: ":"))
        needsComma = false
    }

    /// Writes a member name that was escaped in advance, for the members of many objects of one class.
    ///
    /// - Parameters:
    ///   - names: The text of all names, each with a comma, quotes and a colon, and `namePadding` more bytes after the last.
    ///   - range: The place of this name in `names`.
    @inline(__always) package mutating func key(in names: [UInt8], _ range: Range<Int>) {
        let first = needsComma ? range.lowerBound : range.lowerBound + 1
        buffer.append(names, first..<range.upperBound, readable: JSONWriter.namePadding)
        needsComma = false
    }

    /// The number of bytes that have to follow names that were escaped in advance.
    package static let namePadding = 16

    /// Writes the beginning of an object up to the colon of a member, such as `{"class":"Dog","key":`; a value has to follow.
    ///
    /// - Parameter prefix: The text, made in advance.
    package mutating func objectPrefix(_ prefix: [UInt8]) {
        separate()
        buffer.append(prefix)
        needsComma = false
    }

    // MARK: - Values

    package mutating func null() { raw("null") }
    /// Writes the value true or false.
    package mutating func bool(_ value: Bool) { raw(value ? "true" : "false") }

    /// Writes a constant text as a value.
    ///
    /// - Parameter text: One complete JSON value; it is not checked.
    package mutating func raw(_ text: StaticString) {
        separate()
        buffer.append(text)
    }

    /// Writes a value that is JSON already.
    ///
    /// - Parameter text: One complete JSON value; it is copied without a check.
    package mutating func raw(_ text: [UInt8]) {
        separate()
        buffer.append(text)
    }

    /// Writes a line feed and no comma, as NDJSON separates its values.
    package mutating func newLine() {
        buffer.append(UInt8(ascii: "\n"))
        needsComma = false
    }

    /// Writes an integer in decimal digits.
    package mutating func int(_ value: some FixedWidthInteger) {
        separate()
        if let number = Int64(exactly: value) { buffer.append(decimal: number) } else { buffer.append(String(value)) }
    }

    /// Writes the shortest decimal that reads back as the same double, always with `.` or `e`. NaN
    /// and the infinities are written as strings.
    package mutating func double(_ value: Double) {
        separate()
        if !buffer.append(shortest: value) { buffer.append(special: value) }
    }

    /// Writes the shortest decimal that reads back as the same 32-bit float. NaN and the infinities are written as strings.
    package mutating func float(_ value: Float) {
        separate()
        if !buffer.append(shortest: value) { buffer.append(special: Double(value)) }
    }

    /// Writes a string, escaped as needed.
    package mutating func string(_ text: String) {
        separate()
        buffer.append(jsonString: text)
    }

    /// Writes a string that is stored in a file, escaped as needed.
    ///
    /// - Returns: False when they are not valid UTF-8; nothing was written then.
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

    /// Writes a string of characters that need no escape, such as digits, hexadecimal or Base64 text, and dates.
    ///
    /// - Parameter text: The characters without quotes.
    package mutating func plainString(_ text: [UInt8]) {
        separate()
        buffer.append(UInt8(ascii: "\""))
        buffer.append(text)
        buffer.append(UInt8(ascii: "\""))
    }

    /// Writes a string of characters that need no escape and that a closure stores.
    ///
    /// - Parameters:
    ///   - byteCount: The greatest number of bytes that `body` stores.
    ///   - body: Stores characters, and returns their number; nil where it cannot.
    /// - Returns: Whether the string was written. Nothing was written otherwise.
    @inline(__always)
    package mutating func quoted(room byteCount: Int, _ body: (WritableBytes) -> Int?) -> Bool {
        let room = buffer.room(byteCount + 3)
        let start = needsComma ? 1 : 0
        guard let stored = body(room.suffix(from: start + 1)) else { return false }
        room[0] = UInt8(ascii: ",")
        room[start] = UInt8(ascii: "\"")
        room[start + 1 + stored] = UInt8(ascii: "\"")
        buffer.advance(start + 2 + stored)
        needsComma = true
        return true
    }

    /// Lets a closure append one value directly to the buffer, with a comma before it where one is needed.
    ///
    /// - Parameter write: Appends exactly one complete JSON value.
    package mutating func value(_ write: (OutputBuffer) throws -> Void) rethrows {
        separate()
        try write(buffer)
    }
}

extension JSONWriter {
    /// Writes a member whose value is a string.
    ///
    /// - Parameters:
    ///   - name: The name, which needs no escape.
    ///   - text: The value, which is escaped as needed.
    package mutating func member(_ name: StaticString, text: String) {
        key(name)
        string(text)
    }

    /// Writes a member whose value is a string, or null when there is none.
    ///
    /// - Parameters:
    ///   - name: The name, which needs no escape.
    ///   - text: The value, which is escaped as needed.
    package mutating func member(_ name: StaticString, text: String?) {
        key(name)
        if let text { string(text) } else { null() }
    }

    /// Writes a member whose value is an integer.
    ///
    /// - Parameters:
    ///   - name: The name, which needs no escape.
    package mutating func member(_ name: StaticString, int value: some FixedWidthInteger) {
        key(name)
        int(value)
    }

    /// Writes a member whose value is true or false.
    ///
    /// - Parameters:
    ///   - name: The name, which needs no escape.
    package mutating func member(_ name: StaticString, bool: Bool) {
        key(name)
        self.bool(bool)
    }

    /// Writes a member whose value is a time, as RFC 3339 in UTC with milliseconds.
    ///
    /// - Parameters:
    ///   - name: The name, which needs no escape.
    package mutating func member(_ name: StaticString, time: WallClock) {
        key(name)
        value { buffer in
            buffer.append(UInt8(ascii: "\""))
            buffer.append(logTime: time)
            buffer.append(UInt8(ascii: "\""))
        }
    }

    /// Writes a member whose value is null.
    ///
    /// - Parameter name: The name, which needs no escape.
    package mutating func nullMember(_ name: StaticString) {
        key(name)
        null()
    }
}
