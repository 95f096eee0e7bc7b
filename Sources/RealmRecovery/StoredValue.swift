// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// A value as it is stored. Texts and data borrow from the evidence, or from the reader that joined them.
indirect enum StoredValue {
    case null
    case int(Int64)
    case bool(Bool)
    case text(ByteView)
    case data(ByteView)
    case timestamp(Timestamp)
    case float(UInt32)
    case double(UInt64)
    case decimal(Decimal128)
    case objectID(ByteView)
    case uuid(ByteView)
    /// A link; the table is not known where the file does not state it.
    case link(UInt32?, Int64)
    case list([StoredValue])
    case dictionary([(key: StoredValue, value: StoredValue)])

    /// Whether a Mixed value of this type may lie in an array of plain integers.
    var hasFormlessPayload: Bool {
        switch self {
        case .int, .float, .double, .timestamp, .decimal, .link: return true
        default: return false
        }
    }
}
