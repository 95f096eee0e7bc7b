// SPDX-License-Identifier: Apache-2.0

import RealmHTTP
import RealmStorage

/// Writes stored values: links with their table, unresolved ones marked, Mixed values with their type.
struct ValueDump {
    private let snapshot: Snapshot
    private let budget: WalkBudget

    init(_ snapshot: Snapshot, _ budget: WalkBudget) {
        self.snapshot = snapshot
        self.budget = budget
    }

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

    mutating func writeCollection(_ column: Column, _ root: Ref, into writer: inout JSONWriter) throws {
        let isTagged = column.type == .mixed
        guard column.collection == .dictionary else {
            return try elements(root, column.elementShape, isTagged: isTagged, depth: 0, into: &writer)
        }
        let dictionary = try DictionaryView(
            root: root, space: snapshot.space, keyType: column.dictionaryKeyType, fileFormat: snapshot.fileFormat)
        try entries(dictionary, isTagged: isTagged, depth: 0, into: &writer)
    }

    private mutating func elements(
        _ root: Ref, _ shape: ElementShape, isTagged: Bool, depth: Int, into writer: inout JSONWriter
    ) throws {
        writer.beginArray()
        var cursor = try BPlusTree(root: root, space: snapshot.space, shape: shape).leaves(within: budget)
        while let (leaf, _) = try cursor.next() {
            for row in 0..<leaf.count { try element(leaf, row, isTagged: isTagged, depth: depth, into: &writer) }
        }
        writer.endArray()
    }

    private mutating func element(
        _ leaf: ColumnLeaf, _ row: Int, isTagged: Bool, depth: Int, into writer: inout JSONWriter
    ) throws {
        guard case .mixed(let values) = leaf else { return try write(leaf, row, isTagged: isTagged, into: &writer) }
        if let stored = try values.storedLink(row) { return link(to: stored.key, in: stored.table, isTagged: isTagged, &writer) }
        try write(try values.value(row), isTagged: isTagged, depth: depth, into: &writer)
    }

    private mutating func entries(
        _ dictionary: DictionaryView, isTagged: Bool, depth: Int, into writer: inout JSONWriter
    ) throws {
        writer.beginObject()
        var keys = dictionary.entries()
        var values = dictionary.valueTree?.leaves(within: budget)
        var leaf: ColumnLeaf?
        var row = 0
        while let entry = try keys.next() {
            writer.key(keyText(entry.key))
            // With a tree of values the stored links are shown, which the entry itself hides when unresolved.
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
        }
        writer.endObject()
    }

    private func keyText(_ key: DictionaryKey) -> String {
        switch key {
        case .text(let bytes): return bytes.string
        case .integer(let number): return String(number)
        }
    }

    // MARK: - Values

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

    private func beginTag(_ type: String, _ writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("type")
        writer.string(type)
        writer.key("value")
    }

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
        default: scalar(value, &writer)
        }
        if isTagged { writer.endObject() }
    }

    private func scalar(_ value: Value, _ writer: inout JSONWriter) {
        switch value {
        case .null, .list, .dictionary: writer.null()
        case .int(let number): writer.int(number)
        case .bool(let flag): writer.bool(flag)
        case .float(let number): writer.double(Double(number))
        case .double(let number): writer.double(number)
        case .string(let text): string(text, &writer)
        case .binary(let data): writer.plainString(data.array.hexText)
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

    private func string(_ text: ByteView, _ writer: inout JSONWriter) {
        guard !writer.string(text) else { return }
        writer.beginObject()
        writer.key("invalidUtf8")
        writer.plainString(text.array.hexText)
        writer.endObject()
    }
}

extension Value {
    /// The type name of a value in Mixed.
    fileprivate var dumpTypeName: String {
        if case .link = self { return "typedLink" }
        return typeName
    }
}

extension Decimal128 {
    /// Coefficient and exponent as stored, for example `125E-2`.
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
    fileprivate var hexText: [UInt8] {
        flatMap { byte in [byte >> 4, byte & 15].map { $0 < 10 ? 0x30 + $0 : 0x57 + $0 } }
    }
}

extension FixedWidthInteger {
    fileprivate var bigEndianBytes: [UInt8] {
        (0..<Self.bitWidth / 8).reversed().map { UInt8(truncatingIfNeeded: self >> Self(8 * $0)) }
    }
}
