// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// `.@type`: the type of each value, as a set of bits.
struct TypeBits: ValueDerivation {
    static var type: OperandType { .typeOfValue }

    func derive(_ value: Value) throws(StorageError) -> Value { .int(TypeName.bits(of: value)) }
}
