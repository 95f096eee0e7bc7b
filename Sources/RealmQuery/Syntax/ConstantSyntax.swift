// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// A literal or an argument, with the part of the text that it covers.
///
/// Literals have their value already. Arguments get theirs when the query is bound, and so does
/// `obj()`, because it needs a look-up in the snapshot.
struct ConstantSyntax: Sendable {
    /// The kinds of constants with their values. Texts are the raw bytes between the quotes.
    indirect enum Kind: Sendable {
        /// `null` or `nil`, which has no type of its own.
        case null
        case bool(Bool)
        /// An integer of 64 bits.
        case integer(Int64)
        /// A double, and its text, which is kept for an exact conversion to decimal.
        case double(Double, text: String)
        /// A number with the suffix `f`.
        case float(Float)
        /// The UTF-8 bytes of a string; escapes are not decoded.
        case string([UInt8])
        /// The bytes of `bin(…)`.
        case binary([UInt8])
        /// A moment in UTC.
        case timestamp(Timestamp)
        /// A well-formed calendar date that the language does not support; binding the query fails
        /// with this detail.
        case impossibleTimestamp(String)
        case uuid(UUIDValue)
        case objectID(ObjectID)
        /// The key of an object in the class that the other side of the comparison links to.
        case link(ObjectKey)
        /// The keys of a table and of an object in it.
        case typedLink(TableKey, ObjectKey)
        /// The number of an argument, and the quantifier before it.
        case argument(Int, Quantifier?)
        /// `obj('Class', key)`: the object of a class with this primary key, or null when there is
        /// none.
        case object(className: [UInt8], primaryKey: ConstantSyntax)
    }

    /// The kind of the constant with its value.
    let kind: Kind
    /// The bytes of the text that the constant covers.
    let range: Range<Int>
}
