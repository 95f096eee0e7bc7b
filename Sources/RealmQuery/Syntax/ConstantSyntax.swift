// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// A literal or an argument, with the part of the text that it covers.
///
/// Literals have their value already. Arguments get theirs when the query is bound, and so does
/// `obj()`, because it needs a look-up in the snapshot.
struct ConstantSyntax: Sendable {
    /// The kinds of constants with their values. Texts are the raw bytes between the quotes.
    indirect enum Kind: Sendable {
        /// The literal `null` or `nil`, which has no type of its own.
        case null
        /// The literal `true` or `false`.
        case bool(Bool)
        /// An integer literal of 64 bits, decimal, hexadecimal or octal.
        case integer(Int64)
        /// A double, and its text, which is kept for an exact conversion to decimal.
        case double(Double, text: String)
        /// A floating-point literal with the suffix `f`, of 32 bits.
        case float(Float)
        /// A string literal as UTF-8 bytes, in which escape sequences are not decoded.
        case string([UInt8])
        /// The bytes of a literal `bin(…)`, which is binary data.
        case binary([UInt8])
        /// A timestamp literal, in seconds and nanoseconds since 1970-01-01 UTC.
        case timestamp(Timestamp)
        /// A well-formed calendar date that the language does not support; binding the query fails with this detail.
        case impossibleTimestamp(String)
        /// A UUID literal `uuid(…)`.
        case uuid(UUIDValue)
        /// An object id literal `oid(…)`.
        case objectID(ObjectID)
        /// A link literal `O…`: the key of an object in the class that the other side of the comparison links to.
        case link(ObjectKey)
        /// A link literal `L…:…`: the keys of a table and of an object in it.
        case typedLink(TableKey, ObjectKey)
        /// An argument `$n`, by its number, with the quantifier before it if there is one.
        case argument(Int, Quantifier?)
        /// `obj('Class', key)`: the object of a class with this primary key, or null when there is none.
        case object(className: [UInt8], primaryKey: ConstantSyntax)
    }

    /// The value of the literal, or the number of the argument.
    let kind: Kind
    /// The bytes of the query text that the literal or the argument covers.
    let range: Range<Int>
}
