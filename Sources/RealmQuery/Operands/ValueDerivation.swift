// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// A function from one value to another that a suffix such as `.@count` or `.@type` applies to
/// every value of an operand.
protocol ValueDerivation {
    /// The type of the derived values, which does not depend on the original ones.
    static var type: OperandType { get }

    /// Returns the result for one value.
    ///
    /// - Parameter value: A value of the operand that the suffix follows, possibly null.
    /// - Throws: A storage error when a nested collection cannot be read.
    func derive(_ value: Value) throws(StorageError) -> Value
}
