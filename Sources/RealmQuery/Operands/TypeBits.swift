// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The suffix `.@type`: the type of each value, as a set of bits that `TypeName` defines.
struct TypeBits: ValueDerivation {
    /// The type of sets of types, which compare with each other only.
    static var type: OperandType { .typeOfValue }

    /// Returns the set with the one type of the value, as an int.
    func derive(_ value: Value) throws(StorageError) -> Value { .int(TypeName.bits(of: value)) }
}
