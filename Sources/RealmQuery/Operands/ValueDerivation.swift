// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// What a suffix such as `.@count` makes of one value.
protocol ValueDerivation {
    /// The type of the results.
    static var type: OperandType { get }

    /// The result for one value.
    func derive(_ value: Value) throws(StorageError) -> Value
}
