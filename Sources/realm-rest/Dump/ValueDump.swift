// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
import RealmHTTP
internal import RealmPlatform
import RealmStorage

/// Writes stored values as JSON for `FileDump`.
///
/// Links name their table, unresolved links are marked, and values of mixed properties are
/// wrapped in an object with their type.
struct ValueDump {
    /// The version of the file that the values are read from.
    private let snapshot: Snapshot
    /// The number of nodes that collections may visit, shared by the whole dump.
    private let budget: WalkBudget
    /// Receives the text written before the end of a long collection.
    private let emit: ([UInt8]) throws -> Void

    /// The number of bytes of a text or binary that are written at a time.
    private static let pieceByteCount = 1 << 16

    /// Makes a writer for the values of a version.
    ///
    /// - Parameters:
    ///   - snapshot: The version that is read.
    ///   - budget: The number of nodes that collections may visit.
    ///   - emit: Receives the text written before the end of a long collection.
    init(_ snapshot: Snapshot, _ budget: WalkBudget, emit: @escaping ([UInt8]) throws -> Void) {
        self.snapshot = snapshot
        self.budget = budget
        self.emit = emit
    }

    /// Writes a single value of a property.
    ///
    /// - Parameters:
    ///   - leaf: The attached column.
    ///   - isTagged: Whether the value is wrapped with its type, as mixed values are.
    ///   - writer: Receives the JSON.
    /// - Throws: `StorageError` when the value is damaged.
    mutating func write(_ leaf: ColumnLeaf, _ row: Int, isTagged: Bool, into writer: inout JSONWriter) throws {
        switch leaf {
        case .link(let links):
            link(to: links.key(row), in: links.targetTable, isTagged: isTagged, &writer)
        case .mixed(let values):
            if let stored = try values.storedLink(row) {
                return link(to: stored.key, in: stored.table, isTagged: isTagged, &writer)
            }
            try write(try values.value(row), isTagged: isTagged, depth: 0, into: &writer)
        default:
            try write(try leaf.value(row), isTagged: isTagged, depth: 0, into: &writer)
        }
    }

    /// Writes a list, set or dictionary of a property.
    ///
    /// - Parameters:
    ///   - root: The root of the collection; none for an empty one.
    ///   - writer: Receives the JSON.
    /// - Throws: `StorageError` when the collection is damaged.
    mutating func writeCollection(_ column: Column, _ root: Ref, into writer: inout JSONWriter) throws {
        let isTagged = column.type == .mixed
        guard column.collection == .dictionary else {
            return try elements(root, column.elementShape, isTagged: isTagged, depth: 0, into: &writer)
        }
        let dictionary = try DictionaryView(
            root: root, space: snapshot.space, keyType: column.dictionaryKeyType, fileFormat: snapshot.fileFormat)
        try entries(dictionary, isTagged: isTagged, depth: 0, into: &writer)
    }

    /// Writes the elements of a list or set as a JSON array.
    ///
    /// - Parameters:
    ///   - root: The root of its tree.
    ///   - shape: The type of the elements.
    ///   - isTagged: Whether elements are wrapped with their type.
    ///   - depth: The number of collections around it.
    ///   - writer: Receives the JSON.
    /// - Throws: `StorageError` when the tree is damaged, or the dump has visited more nodes
    ///   than the file can have.
    private mutating func elements(
        _ root: Ref, _ shape: ElementShape, isTagged: Bool, depth: Int, into writer: inout JSONWriter
    ) throws {
        writer.beginArray()
        var cursor = try BPlusTree(root: root, space: snapshot.space, shape: shape).leaves(within: budget)
        while let (leaf, _) = try cursor.next() {
            for row in 0..<leaf.count {
                try element(leaf, row, isTagged: isTagged, depth: depth, into: &writer)
                try writer.handOn(to: emit)
            }
        }
        writer.endArray()
    }

    /// Writes one element of a list or set, or one value of a dictionary.
    ///
    /// - Parameters:
    ///   - leaf: The leaf that contains the value.
    private mutating func element(
        _ leaf: ColumnLeaf, _ row: Int, isTagged: Bool, depth: Int, into writer: inout JSONWriter
    ) throws {
        guard case .mixed(let values) = leaf else { return try write(leaf, row, isTagged: isTagged, into: &writer) }
        if let stored = try values.storedLink(row) { return link(to: stored.key, in: stored.table, isTagged: isTagged, &writer) }
        try write(try values.value(row), isTagged: isTagged, depth: depth, into: &writer)
    }

    /// Writes the entries of a dictionary as a JSON object, in their stored order.
    ///
    /// - Parameters:
    ///   - dictionary: The keys, with the tree of their values.
    ///   - isTagged: Whether values are wrapped with their type.
    ///   - depth: The number of collections around it.
    ///   - writer: Receives the JSON.
    /// - Throws: `StorageError` when the dictionary is damaged, for example when it has more
    ///   keys than values.
    private mutating func entries(
        _ dictionary: DictionaryView, isTagged: Bool, depth: Int, into writer: inout JSONWriter
    ) throws {
        writer.beginObject()
        var keys = dictionary.entries()
        var values = dictionary.valueTree?.leaves(within: budget)
        var leaf: ColumnLeaf?
        var row = 0
        while let entry = try keys.next() {
            try key(entry.key, &writer)
            // The tree of values contains the stored links, which the entry itself hides when
            // they are unresolved.
            while values != nil, leaf == nil || row >= leaf?.count ?? 0 {
                leaf = try values?.next()?.leaf
                row = 0
                guard leaf != nil else { throw StorageError.corrupt(ref: .none, reason: "more keys than values") }
            }
            if let leaf {
                try element(leaf, row, isTagged: isTagged, depth: depth, into: &writer)
                row += 1
            } else {
                try write(entry.value, isTagged: isTagged, depth: depth, into: &writer)
            }
            try writer.handOn(to: emit)
        }
        writer.endObject()
    }

    /// Writes the key of an entry; old files also have integers as keys.
    private func key(_ key: DictionaryKey, _ writer: inout JSONWriter) throws {
        switch key {
        case .text(let bytes):
            guard bytes.count > ValueDump.pieceByteCount, UTF8Check.isValid(bytes) else { return writer.key(bytes.string) }
            try pieces(of: bytes, &writer) { $0.append(escaped: $1) }
            writer.endKey()
        case .integer(let number): writer.key(String(number))
        }
    }

    // MARK: - Values

    /// Writes a link as the table and the key of its target; null for no target.
    ///
    /// An unresolved link, whose target is a tombstone, is marked as such.
    private func link(to key: ObjectKey, in table: TableKey, isTagged: Bool, _ writer: inout JSONWriter) {
        guard !key.isNull else { return writer.null() }
        let name = snapshot.table(table)?.name
        if key.isUnresolved {
            writer.beginObject()
            writer.key("unresolved")
            writer.int(key.rawValue)
            writer.key("table")
            if let name { writer.string(name) } else { writer.null() }
            writer.endObject()
            return
        }
        if isTagged { beginTag("typedLink", &writer) }
        writer.beginObject()
        writer.key("table")
        if let name { writer.string(name) } else { writer.null() }
        writer.key("key")
        writer.int(key.rawValue)
        writer.endObject()
        if isTagged { writer.endObject() }
    }

    /// Begins the object that wraps a mixed value: its type and the name of the member for its value.
    private func beginTag(_ type: String, _ writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("type")
        writer.string(type)
        writer.key("value")
    }

    /// Writes a value, with nested lists and dictionaries.
    ///
    /// - Parameters:
    ///   - isTagged: Whether it is wrapped with its type.
    ///   - depth: The number of collections around it, which is limited.
    ///   - writer: Receives the JSON.
    /// - Throws: `StorageError` when a nested collection is damaged or nested too deeply.
    private mutating func write(_ value: Value, isTagged: Bool, depth: Int, into writer: inout JSONWriter) throws {
        guard depth <= WalkBudget.maximumDepth else {
            throw StorageError.corrupt(ref: .none, reason: "collections nested deeper than \(WalkBudget.maximumDepth)")
        }
        if case .null = value { return writer.null() }
        if isTagged { beginTag(value.dumpTypeName, &writer) }
        switch value {
        case .list(let root):
            try elements(root, .mixed, isTagged: true, depth: depth + 1, into: &writer)
        case .dictionary(let root):
            let dictionary = try DictionaryView(root: root, space: snapshot.space, fileFormat: snapshot.fileFormat)
            try entries(dictionary, isTagged: true, depth: depth + 1, into: &writer)
        default: try scalar(value, &writer)
        }
        if isTagged { writer.endObject() }
    }

    /// Writes a value that is no collection; data, object ids and UUIDs appear in hexadecimal digits.
    private func scalar(_ value: Value, _ writer: inout JSONWriter) throws {
        switch value {
        case .null, .list, .dictionary: writer.null()
        case .int(let number): writer.int(number)
        case .bool(let flag): writer.bool(flag)
        case .float(let number): writer.double(Double(number))
        case .double(let number): writer.double(number)
        case .string(let text): try string(text, &writer)
        case .binary(let data): try hex(data, &writer)
        case .timestamp(let date):
            writer.beginObject()
            writer.key("seconds")
            writer.int(date.seconds)
            writer.key("nanoseconds")
            writer.int(date.nanoseconds)
            writer.endObject()
        case .decimal(let number): writer.string(number.rawText)
        case .objectID(let id): writer.plainString((id.first.bigEndianBytes + id.last.bigEndianBytes).hexText)
        case .uuid(let id):
            let hex = (id.first.bigEndianBytes + id.last.bigEndianBytes).hexText
            writer.plainString(
                [hex[0..<8], hex[8..<12], hex[12..<16], hex[16..<20], hex[20...]].joined(separator: [0x2d]).map(\.self))
        case .link(let table, let key): link(to: key, in: table, isTagged: false, &writer)
        }
    }

    /// Writes a string; one that is not UTF-8 appears as an object with its bytes in hexadecimal digits.
    private func string(_ text: ByteView, _ writer: inout JSONWriter) throws {
        if text.count > ValueDump.pieceByteCount, UTF8Check.isValid(text) {
            return try pieces(of: text, &writer) { $0.append(escaped: $1) }
        }
        guard text.count > ValueDump.pieceByteCount || !writer.string(text) else { return }
        writer.beginObject()
        writer.key("invalidUtf8")
        try hex(text, &writer)
        writer.endObject()
    }

    /// Writes bytes in hexadecimal digits.
    private func hex(_ bytes: ByteView, _ writer: inout JSONWriter) throws {
        try pieces(of: bytes, &writer) { $0.append($1.array.hexText) }
    }

    /// Writes a string for some bytes, and passes the text on after each piece of them.
    ///
    /// - Parameters:
    ///   - append: Appends the text of a piece, without quotes.
    private func pieces(
        of bytes: ByteView, _ writer: inout JSONWriter, _ append: (OutputBuffer, ByteView) -> Void
    ) throws {
        try writer.value { buffer in
            buffer.append(UInt8(ascii: "\""))
            for start in stride(from: 0, to: bytes.count, by: ValueDump.pieceByteCount) {
                append(buffer, bytes.slice(start, start + ValueDump.pieceByteCount))
                guard buffer.count >= ValueDump.pieceByteCount else { continue }
                try emit(buffer.array)
                buffer.removeAll()
            }
            buffer.append(UInt8(ascii: "\""))
        }
    }
}

extension Value {
    /// The type name of a mixed value in the dump; a link appears as `typedLink`.
    fileprivate var dumpTypeName: String {
        if case .link = self { return "typedLink" }
        return typeName
    }
}

extension Decimal128 {
    /// The coefficient and the exponent as they are stored, for example `125E-2`.
    fileprivate var rawText: String {
        switch parts {
        case .nan: return "NaN"
        case .infinity(let isNegative): return isNegative ? "-Infinity" : "Infinity"
        case .finite(let isNegative, let coefficient, let exponent):
            return "\(isNegative ? "-" : "")\(coefficient)E\(exponent)"
        }
    }
}

extension [UInt8] {
    /// The bytes as ASCII text of lower-case hexadecimal digits.
    fileprivate var hexText: [UInt8] {
        var digits: [UInt8] = []
        digits.reserveCapacity(2 * count)
        for byte in self {
            let (high, low) = (byte >> 4, byte & 15)
            digits.append(high < 10 ? 0x30 + high : 0x57 + high)
            digits.append(low < 10 ? 0x30 + low : 0x57 + low)
        }
        return digits
    }
}

extension FixedWidthInteger {
    /// The bytes of the number, the most significant one first.
    fileprivate var bigEndianBytes: [UInt8] {
        (0..<Self.bitWidth / 8).reversed().map { UInt8(truncatingIfNeeded: self >> Self(8 * $0)) }
    }
}

extension JSONWriter {
    /// Passes on the text that was written so far, if it has at least `byteCount` bytes.
    ///
    /// - Throws: The errors of `emit`, which receives the text.
    mutating func handOn(atLeast byteCount: Int = 1 << 16, to emit: ([UInt8]) throws -> Void) throws {
        guard count >= byteCount else { return }
        try emit(bytes)
        forgetBytes()
    }
}
