// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// An attached leaf of a column whose values lie in one tree.
enum LegacyLeaf {
    /// Numbers as they are, for integers, booleans, dates and links; `marker` means null.
    case integers(PackedIntegers, LegacyType, marker: Int64?)
    /// Floats or doubles, of which one NaN is null if `isNullable`.
    case reals(ByteView, LegacyType, isNullable: Bool)
    /// Strings or binaries; null reads as empty unless `isNullable`.
    case blobs(LegacyBlobs, isText: Bool, isNullable: Bool)

    /// Attaches a leaf.
    ///
    /// - Throws: `.corrupt` for a node that cannot be a leaf of this type.
    init(_ node: Node, _ type: LegacyType, isNullable: Bool, _ reading: LegacyReading) throws(StorageError) {
        switch type {
        case .string, .binary:
            let isText = type == .string
            self = .blobs(try LegacyBlobs(node, isText: isText, reading), isText: isText, isNullable: isNullable)
        case .float, .double:
            let width = type == .double ? 8 : 4
            guard !node.hasRefs, node.widthType == Node.WidthType.multiply.rawValue, node.width == width || node.count == 0 else {
                throw node.corrupt("a leaf of numbers of \(width) bytes expected")
            }
            self = .reals(node.bytes, type, isNullable: isNullable)
        default:
            let elements = try reading.integers(of: node)
            let hasMarker = isNullable && type != .link && type != .enumerated
            guard !hasMarker || elements.count > 0 else { throw node.corrupt("a nullable leaf without its null marker") }
            self = .integers(elements, type, marker: hasMarker ? elements[0] : nil)
        }
    }

    var count: Int {
        switch self {
        case .integers(let elements, _, let marker): return elements.count - (marker == nil ? 0 : 1)
        case .reals(let bytes, let type, _): return bytes.count >> (type == .double ? 3 : 2)
        case .blobs(let blobs, _, _): return blobs.count
        }
    }

    /// Returns a value: links and positions of enumerated strings as integers, null for a link to nothing.
    ///
    /// - Parameter row: A row in `0..<count`.
    func value(_ row: Int) throws(StorageError) -> Value {
        switch self {
        case .integers(let elements, let type, let marker):
            let number = elements[marker == nil ? row : row + 1]
            return number == marker ? .null : LegacyLeaf.value(number, type)
        case .reals(let bytes, .double, let isNullable):
            let bits = bytes.word(at: row << 3).byteSwapped
            guard bits == DoubleLeaf.nullBits else { return .double(Double(bitPattern: bits)) }
            return isNullable ? .null : .double(.nan)
        case .reals(let bytes, _, let isNullable):
            let bits = UInt32(truncatingIfNeeded: bytes.slice(row << 2, row << 2 + 4).word(at: 0).byteSwapped)
            guard bits == FloatLeaf.nullBits else { return .float(Float(bitPattern: bits)) }
            return isNullable ? .null : .float(.nan)
        case .blobs(let blobs, let isText, let isNullable):
            guard let bytes = try blobs.bytes(row) else { return isNullable ? .null : isText ? .string(.empty) : .binary(.empty) }
            return isText ? .string(bytes) : .binary(bytes)
        }
    }

    /// Returns the value of a stored number.
    private static func value(_ number: Int64, _ type: LegacyType) -> Value {
        switch type {
        case .bool: return .bool(number != 0)
        case .oldDate: return .timestamp(Timestamp(seconds: number, nanoseconds: 0))
        case .link: return number == 0 ? .null : .int(number &- 1)
        default: return .int(number)
        }
    }
}
