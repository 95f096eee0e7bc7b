// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The forms of columns. Counts, offsets and flags have to agree exactly: what only nearly fits is something else.
/// Source: docs/format.md, the sections from "Int" on.
extension NodeReader {
    /// Returns the values of a leaf of any type but links and Mixed.
    func simple(_ node: RawNode, _ kind: FormerColumn.Kind, isNullable: Bool, enumeration: UInt64 = 0) throws(Loss)
        -> [StoredValue]
    {
        switch kind {
        case .int:
            guard isNullable else { return try plainIntegers(node).map { .int($0) } }
            return try nullableIntegers(node).map { $0.map { .int($0) } ?? .null }
        case .bool:
            return try plainIntegers(node).map { number throws(Loss) in
                switch number {
                case 0: return .bool(false)
                case 1: return .bool(true)
                case 3: return .null
                default: throw Loss.malformed("overwritten")
                }
            }
        case .float: return try floats(node)
        case .double: return try doubles(node)
        case .string: return try texts(node, enumeration: enumeration)
        case .data: return try blobs(node).map { $0.map { .data($0) } ?? .null }
        case .timestamp: return try timestamps(node)
        case .decimal: return try decimals(node)
        case .objectID: return try fixedBytes(node, byteCount: 12).map { $0.map { .objectID($0) } ?? .null }
        case .uuid: return try fixedBytes(node, byteCount: 16).map { $0.map { .uuid($0) } ?? .null }
        case .link, .typedLink, .mixed, .backlink: throw .malformed("no form of this type")
        }
    }

    /// Returns integers that may be null: the first element is the number that represents null.
    func nullableIntegers(_ node: RawNode) throws(Loss) -> [Int64?] {
        let numbers = try plainIntegers(node)
        guard let marker = numbers.first else { throw .malformed("no null marker") }
        return numbers.dropFirst().map { $0 == marker ? nil : $0 }
    }

    // MARK: - Texts and data

    /// Returns texts in any of their forms.
    func texts(_ node: RawNode, enumeration: UInt64) throws(Loss) -> [StoredValue] {
        if !node.hasRefs, node.widthType == 1 { return try shortTexts(node).map { $0.map { .text($0) } ?? .null } }
        if !node.hasRefs, node.widthType == 0 {
            guard enumeration != 0 else { throw .malformed("no list of texts") }
            let values = try self.enumeration(enumeration)
            return try integers(node).map { index throws(Loss) in
                guard index >= 0, index < values.count else { throw Loss.malformed("no such text") }
                return values[Int(index)]
            }
        }
        guard node.hasRefs else { throw .malformed("not a leaf of texts") }
        if node.hasContext {
            return try integers(node).map { ref throws(Loss) in try self.bigText(UInt64(bitPattern: ref)) }
        }
        return try smallBlobs(node).map { bytes throws(Loss) in
            guard let bytes else { return .null }
            return .text(try NodeReader.withoutZero(bytes))
        }
    }

    /// Returns a text that has a node of its own; null for a ref of 0.
    func bigText(_ ref: UInt64) throws(Loss) -> StoredValue {
        guard ref != 0 else { return .null }
        guard ref & 1 == 0 else { throw .malformed("bad ref of a text") }
        let node = try node(ref)
        // Values that are split over several nodes have no zero at their end.
        if node.hasRefs { return .text(try blob(node)) }
        return .text(try NodeReader.withoutZero(blob(node)))
    }

    /// Returns data that has a node of its own; null for a ref of 0.
    func bigData(_ ref: UInt64) throws(Loss) -> StoredValue {
        guard ref != 0 else { return .null }
        guard ref & 1 == 0 else { throw .malformed("bad ref of data") }
        return .data(try blob(node(ref)))
    }

    /// Returns the bytes of a text without the zero at its end.
    private static func withoutZero(_ bytes: ByteView) throws(Loss) -> ByteView {
        guard !bytes.isEmpty, bytes[bytes.count - 1] == 0 else { throw .malformed("no zero at the end of a text") }
        return bytes.slice(0, bytes.count - 1)
    }

    /// Returns texts of up to 63 bytes, padded to one width; nil for null.
    func shortTexts(_ node: RawNode, isNullable: Bool = true) throws(Loss) -> [ByteView?] {
        guard !node.hasRefs, node.widthType == 1 else { throw .malformed("short texts expected") }
        let width = node.width
        guard map.budget.spend(node.count / 64) else { throw .stopped }
        guard width > 0 else { return [ByteView?](repeating: isNullable ? nil : .empty, count: node.count) }
        let payload = node.payload
        return try (0..<node.count).map { index throws(Loss) in
            let cell = payload.slice(index * width, (index + 1) * width)
            let padding = Int(cell[width - 1])
            guard padding <= width else { throw Loss.malformed("padding of a text") }
            if padding == width { return isNullable ? nil : .empty }
            let length = width - 1 - padding
            guard cell.slice(length, width - 1).isZero else { throw Loss.malformed("padding of a text") }
            return cell.slice(0, length)
        }
    }

    /// Returns data in either of its forms; nil for null.
    private func blobs(_ node: RawNode) throws(Loss) -> [ByteView?] {
        guard node.hasRefs else { throw .malformed("not a leaf of data") }
        guard node.hasContext else { return try smallBlobs(node) }
        return try integers(node).map { ref throws(Loss) in
            guard ref != 0 else { return nil }
            guard ref & 1 == 0 else { throw Loss.malformed("bad ref of data") }
            return try self.blob(self.node(UInt64(bitPattern: ref)))
        }
    }

    /// Returns values that lie one after another in one node; nil for null.
    private func smallBlobs(_ node: RawNode) throws(Loss) -> [ByteView?] {
        guard node.hasRefs, node.count == 3 else { throw .malformed("not a leaf of short values") }
        let offsets = try plainIntegers(child(node, 0))
        let bytes = try child(node, 1)
        let nulls = try plainIntegers(child(node, 2))
        guard bytes.widthType == 2, !bytes.hasRefs, nulls.count == offsets.count, nulls.allSatisfy({ $0 == 0 || $0 == 1 }) else {
            throw .malformed("not a leaf of short values")
        }
        let payload = bytes.payload
        guard (offsets.last ?? 0) == Int64(payload.count) else { throw .malformed("the last offset is not the length") }
        var start: Int64 = 0
        return try zip(offsets, nulls).map { end, isNull throws(Loss) in
            guard end >= start, end <= payload.count else { throw Loss.malformed("offsets do not ascend") }
            defer { start = end }
            return isNull != 0 ? nil : payload.slice(Int(start), Int(end))
        }
    }

    /// Returns the bytes of a value with a node of its own, which may be split over several.
    private func blob(_ node: RawNode) throws(Loss) -> ByteView {
        guard node.hasRefs else {
            guard node.widthType == 2 else { throw .malformed("not bytes") }
            return node.payload
        }
        guard node.hasContext, !node.isInner else { throw .malformed("not bytes") }
        var pieces: [ByteView] = []
        for index in 0..<node.count {
            let piece = try child(node, index)
            guard piece.widthType == 2, !piece.hasRefs else { throw .malformed("not bytes") }
            pieces.append(piece.payload)
        }
        return try join(pieces)
    }

    /// Returns values of a fixed number of bytes; nil for null.
    func fixedBytes(_ node: RawNode, byteCount: Int) throws(Loss) -> [ByteView?] {
        guard !node.hasRefs, node.widthType == 1, node.count == 0 || node.width == 1 else {
            throw .malformed("not a leaf of ids")
        }
        let payload = node.payload
        let block = 8 * byteCount + 1
        let (full, rest) = payload.count.quotientAndRemainder(dividingBy: block)
        guard rest == 0 || (rest - 1) % byteCount == 0 else { throw .malformed("not a leaf of ids") }
        let count = full * 8 + (rest == 0 ? 0 : (rest - 1) / byteCount)
        guard map.budget.spend(count / 64) else { throw .stopped }
        return (0..<count).map { index in
            let base = index / 8 * block
            if payload[base] >> UInt8(index % 8) & 1 == 1 { return nil }
            let start = base + 1 + index % 8 * byteCount
            return payload.slice(start, start + byteCount)
        }
    }

    // MARK: - Numbers and dates

    /// Returns decimals in any of their widths.
    private func decimals(_ node: RawNode) throws(Loss) -> [StoredValue] {
        guard !node.hasRefs, node.widthType == 1 else { throw .malformed("not a leaf of decimals") }
        let content = node.content
        guard map.budget.spend(node.count / 64) else { throw .stopped }
        func value(_ number: Decimal128) -> StoredValue { number.isNull ? .null : .decimal(number) }
        switch node.width {
        case 0: return [StoredValue](repeating: node.hasContext ? .decimal(.zero) : .null, count: node.count)
        case 4: return (0..<node.count).map { value(Decimal128(stored32: NodeReader.word32(content, $0))) }
        case 8: return (0..<node.count).map { value(Decimal128(stored64: content.word(at: 8 * $0).byteSwapped)) }
        case 16:
            return (0..<node.count).map {
                value(Decimal128(low: content.word(at: 16 * $0).byteSwapped, high: content.word(at: 16 * $0 + 8).byteSwapped))
            }
        default: throw .malformed("not a leaf of decimals")
        }
    }

    /// Returns the 32 bits of element `index`.
    private static func word32(_ content: ByteView, _ index: Int) -> UInt32 {
        UInt32(truncatingIfNeeded: content.word(at: index / 2 * 8).byteSwapped >> UInt64(32 * (index & 1)))
    }

    /// Returns floating-point numbers of 32 bits.
    private func floats(_ node: RawNode) throws(Loss) -> [StoredValue] {
        guard !node.hasRefs, node.widthType == 1, node.count == 0 || node.width == 4 else {
            throw .malformed("not a leaf of floats")
        }
        guard map.budget.spend(node.count / 64) else { throw .stopped }
        return (0..<node.count).map {
            let bits = NodeReader.word32(node.content, $0)
            return bits == 0x7fc0_00aa ? .null : .float(bits)
        }
    }

    /// Returns floating-point numbers of 64 bits.
    private func doubles(_ node: RawNode) throws(Loss) -> [StoredValue] {
        guard !node.hasRefs, node.widthType == 1, node.count == 0 || node.width == 8 else {
            throw .malformed("not a leaf of doubles")
        }
        guard map.budget.spend(node.count / 64) else { throw .stopped }
        return (0..<node.count).map {
            let bits = node.content.word(at: 8 * $0).byteSwapped
            return bits == 0x7ff8_0000_0000_00aa ? .null : .double(bits)
        }
    }

    /// Returns dates; both parts of one have the same sign.
    func timestamps(_ node: RawNode) throws(Loss) -> [StoredValue] {
        guard node.hasRefs, node.count == 2 else { throw .malformed("not a leaf of dates") }
        let seconds = try nullableIntegers(child(node, 0))
        let nanoseconds = try plainIntegers(child(node, 1))
        guard seconds.count == nanoseconds.count else { throw .malformed("not a leaf of dates") }
        return try zip(seconds, nanoseconds).map { second, nanosecond throws(Loss) in
            guard let second else { return .null }
            return .timestamp(try NodeReader.timestamp(second, nanosecond))
        }
    }

    /// Returns a date; throws for parts that no writer stores.
    static func timestamp(_ seconds: Int64, _ nanoseconds: Int64) throws(Loss) -> Timestamp {
        guard nanoseconds.magnitude < 1_000_000_000, nanoseconds == 0 || seconds == 0 || (nanoseconds < 0) == (seconds < 0) else {
            throw .malformed("not a date")
        }
        return Timestamp(seconds: seconds, nanoseconds: Int32(nanoseconds))
    }
}
