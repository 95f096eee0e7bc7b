// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// A literal or an argument.
struct ConstantSyntax: Sendable {
    indirect enum Kind: Sendable {
        case null
        case bool(Bool)
        case integer(Int64)
        /// The text is kept for an exact conversion to decimal.
        case double(Double, text: String)
        case float(Float)
        case string([UInt8])
        case binary([UInt8])
        case timestamp(Timestamp)
        /// A well-formed calendar date that is none; the query is invalid.
        case impossibleTimestamp(String)
        case uuid(UUIDValue)
        case objectID(ObjectID)
        case link(ObjectKey)
        case typedLink(TableKey, ObjectKey)
        case argument(Int, Quantifier?)
        case object(className: [UInt8], primaryKey: ConstantSyntax)
    }

    let kind: Kind
    let range: Range<Int>
}
