// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

extension JSONWriter {
    /// Writes a parsed value. Numbers that were kept as tokens are written with the digits that they had.
    ///
    /// - Parameter value: The value, with everything in it.
    package mutating func write(_ value: JSONValue) {
        switch value {
        case .null: null()
        case .bool(let flag): bool(flag)
        case .integer(let number): int(number)
        case .longInteger(let token), .longReal(let token): raw(Array(token.utf8))
        case .real(let number): double(number)
        case .string(let text): string(text)
        case .array(let elements):
            beginArray()
            for element in elements { write(element) }
            endArray()
        case .object(let object):
            beginObject()
            for member in object.members {
                key(member.name)
                write(member.value)
            }
            endObject()
        }
    }
}

extension JSONValue {
    /// The value as JSON text without spaces. Equal values have equal texts, so the text can identify a value.
    package var canonicalText: String {
        var writer = JSONWriter()
        writer.write(self)
        return writer.buffer.text
    }
}
