// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The suffix `.@count` on a string, a binary or a mixed value: the length of text and binary data
/// in bytes, and the number of elements of nested collections.
struct ByteLength: ValueDerivation {
    /// The nodes of the snapshot, from which nested collections are read.
    let space: NodeSpace

    /// The type of every length: int.
    static var type: OperandType { .int }

    /// Returns the length of a value as an int, null for null, booleans and numbers, and
    /// `Value.missing` for the rest.
    func derive(_ value: Value) throws(StorageError) -> Value {
        switch value {
        case .string(let bytes), .binary(let bytes): return .int(Int64(bytes.count))
        case .list(let root): return .int(Int64(try ListView(nested: root, space: space).count))
        case .dictionary(let root): return .int(Int64(try DictionaryView(root: root, space: space).count))
        // For null, booleans and numbers the reference engine yields null; for the rest its results make no sense.
        case .timestamp, .objectID, .uuid, .link: return .missing
        case .null, .int, .bool, .float, .double, .decimal: return .null
        }
    }
}
