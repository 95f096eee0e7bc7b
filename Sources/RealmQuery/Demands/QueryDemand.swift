// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
package import RealmStorage

/// The demands of a query on values that an object itself stores, apart from other demands.
///
/// Each match passes all tests of one alternative. So an object that passes those of none, neither before a commit nor after it,
/// has no influence on the result: it is no match, and the place of matches does not depend on other objects. An index files many
/// queries by their demands, and finds those that a changed object may concern by its values.
///
/// It belongs to no version, and is used by one thread at a time.
package final class QueryDemand {
    /// The allowed values of a property.
    package enum Key {
        /// Values of exactly the type of the property: one of them is equal in the order of values.
        case values([Value])
        /// The value is not before the lower bound, and not behind the upper one, in the order of values; nil for no bound.
        case bounds(lower: Value?, upper: Value?)
        /// Neither an order nor a hash decides it.
        case tested
    }

    /// One of several ways to match.
    package struct Alternative {
        /// The property by whose value the query is filed.
        package let column: ColumnKey
        /// The values that the property has to have.
        package let key: Key
        /// The tests that a match passes, of this property and of others.
        package let tests: [ValueTest]
    }

    /// The alternatives; none when no object can match.
    package let alternatives: [Alternative]
    /// Owns the bytes of the constants in `alternatives`.
    private let pool: ConstantPool

    /// Makes a demand.
    ///
    /// - Parameters:
    ///   - pool: Owns the bytes of their constants.
    init(_ alternatives: [Alternative], pool: ConstantPool) {
        self.alternatives = alternatives
        self.pool = pool
    }
}
