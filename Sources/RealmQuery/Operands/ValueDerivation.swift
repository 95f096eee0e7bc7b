// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// A function from one value to another that a suffix such as `.@count` or `.@type` applies to every value of an operand.
protocol ValueDerivation {
    /// The type of the derived values, which does not depend on the original ones.
    static var type: OperandType { get }

    /// Returns the result for one value.
    ///
    /// - Parameter value: A value of the operand that the suffix follows, possibly null.
    /// - Throws: A storage error when a nested collection cannot be read.
    func derive(_ value: Value) throws(StorageError) -> Value
}

/// The suffix `.@type`: the type of each value, as a set of bits that `TypeName` defines.
struct TypeBits: ValueDerivation {
    /// The type of sets of types, which compare with each other only.
    static var type: OperandType { .typeOfValue }

    /// Returns the set with the one type of the value, as an int.
    func derive(_ value: Value) throws(StorageError) -> Value { .int(TypeName.bits(of: value)) }
}

/// The suffix `.@count` on a string, a binary or a mixed value: the length of text and binary data
/// in bytes, and the number of elements of nested collections.
struct ByteLength: ValueDerivation {
    /// The nodes of the snapshot, from which nested collections are read.
    let space: NodeSpace

    /// The type of every length: int.
    static var type: OperandType { .int }

    /// Returns the length of a value as an int, null for null, booleans and numbers, and `Value.missing` for the rest.
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
