// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// `.@count` of a string, a binary or a mixed value: bytes of text and binary data, elements of nested collections.
struct ByteLength: ValueDerivation {
    /// Where nested collections are read.
    let space: NodeSpace

    static var type: OperandType { .int }

    func derive(_ value: Value) throws(StorageError) -> Value {
        switch value {
        case .string(let bytes), .binary(let bytes): return .int(Int64(bytes.count))
        case .list(let root): return .int(Int64(try ListView(nested: root, space: space).count))
        case .dictionary(let root): return .int(Int64(try DictionaryView(root: root, space: space).count))
        // The reference engine gives null to null, booleans and numbers, but no sensible answer for the rest.
        case .timestamp, .objectID, .uuid, .link: return .missing
        case .null, .int, .bool, .float, .double, .decimal: return .null
        }
    }
}
