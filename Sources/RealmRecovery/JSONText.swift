// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Appends pieces of JSON to bytes.
extension [UInt8] {
    /// Appends a piece of JSON as it is.
    mutating func append(json text: String) { append(contentsOf: text.utf8) }

    mutating func append(string text: String) {
        let storage = ByteStorage(text)
        withExtendedLifetime(storage) { appendQuoted(storage.view) }
    }

    /// Appends a text of the file: a JSON string, or `{"$bytes":…}` where it is not UTF-8.
    mutating func append(text: ByteView) {
        if text.isASCII || text.validatedString != nil { return appendQuoted(text) }
        append(json: "{\"$bytes\":")
        append(base64: text)
        append(UInt8(ascii: "}"))
    }

    /// Appends bytes as base64 in quotes.
    mutating func append(base64 bytes: ByteView) {
        append(UInt8(ascii: "\""))
        // Pieces of whole groups have no padding between them.
        for start in stride(from: 0, to: bytes.count, by: 3 << 10) {
            Base64.append(bytes.slice(start, start + 3 << 10), to: &self)
        }
        append(UInt8(ascii: "\""))
    }

    /// Appends the name of a member with its colon, and a comma before it unless it is the first.
    mutating func append(member name: String) {
        if last != UInt8(ascii: "{") { append(UInt8(ascii: ",")) }
        append(string: name)
        append(UInt8(ascii: ":"))
    }

    mutating func append(member name: String, string: String) {
        append(member: name)
        append(string: string)
    }

    mutating func append(member name: String, number: some BinaryInteger) {
        append(member: name)
        append(digitsOf: Int64(clamping: number))
    }

    /// Appends a member with a truth value.
    mutating func append(member name: String, flag: Bool) {
        append(member: name)
        append(json: flag ? "true" : "false")
    }

    mutating func append<Item>(
        member name: String, array: some Sequence<Item>, _ body: (inout [UInt8], Item) -> Void
    ) {
        append(member: name)
        append(UInt8(ascii: "["))
        for element in array {
            if last != UInt8(ascii: "[") { append(UInt8(ascii: ",")) }
            body(&self, element)
        }
        append(UInt8(ascii: "]"))
    }

    /// Appends an offset as the text `0x…`.
    mutating func append(ref: UInt64) { append(string: "0x\(String(ref, radix: 16))") }

    /// Appends valid UTF-8 in quotes, with the escapes that JSON requires.
    private mutating func appendQuoted(_ text: ByteView) {
        append(UInt8(ascii: "\""))
        for index in 0..<text.count {
            let byte = text[index]
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                append(UInt8(ascii: "\\"))
                append(byte)
            case 0x0a: append(json: "\\n")
            case 0x0d: append(json: "\\r")
            case 0x09: append(json: "\\t")
            case 0..<0x20:
                append(json: "\\u00")
                append(byte < 16 ? UInt8(ascii: "0") : UInt8(ascii: "1"))
                let digit = byte & 15
                append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
            default: append(byte)
            }
        }
        append(UInt8(ascii: "\""))
    }
}
