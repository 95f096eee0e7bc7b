// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmPlatform
internal import RealmStorage

extension KeyText {
    /// Writes the key of an object as a JSON string, without making a text for the frequent types.
    ///
    /// - Parameters:
    ///   - value: The primary key; nil in a class without one.
    ///   - objectKey: The object key, which is the key in a class without primary key.
    static func write(_ value: Value?, _ objectKey: ObjectKey, to writer: inout JSONWriter) {
        switch value {
        case .int(let number):
            writer.value { buffer in
                buffer.append(UInt8(ascii: "\""))
                buffer.append(decimal: number)
                buffer.append(UInt8(ascii: "\""))
            }
        case .string(let bytes) where !bytes.isEmpty && bytes[0] != UInt8(ascii: "@"):
            if !writer.string(bytes) { writer.string(text(.string(bytes), objectKey: objectKey)) }
        case .objectID(let id):
            writer.value { buffer in
                buffer.append(UInt8(ascii: "\""))
                buffer.append(id)
                buffer.append(UInt8(ascii: "\""))
            }
        case .some(let value): writer.string(text(value, objectKey: objectKey))
        case nil: writer.string(text(objectKey))
        }
    }
}
