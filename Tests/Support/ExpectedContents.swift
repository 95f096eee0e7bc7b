// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL
import RealmPlatform
package import RealmStorage

/// Compares what a snapshot holds with the expected dump of a fixture.
package struct ExpectedContents {
    private let snapshot: Snapshot
    /// Where values differ, at most twenty places.
    package private(set) var differences: [String] = []
    package private(set) var objectCount = 0

    package init(_ snapshot: Snapshot) { self.snapshot = snapshot }

    /// Compares everything. The format is that of the dump, or `fileFormat` for a file that was upgraded.
    package mutating func compare(with dump: ParsedJSON, fileFormat: Int? = nil) throws {
        expect((fileFormat.map(Int64.init) ?? dump["fileFormat"]?.integer) == Int64(snapshot.fileFormat), "file format")
        expect(dump["schemaVersion"]?.integer == snapshot.schemaVersion.map { Int64(bitPattern: $0) }, "schema version")
        expect(dump["tables"]?.elements?.compactMap(\.text) == snapshot.tables.map(\.name).sorted(), "table names")
        for one in dump["classes"]?.elements ?? [] { try compareClass(one) }
    }

    private mutating func expect(_ condition: Bool, _ place: @autoclosure () -> String) {
        if !condition, differences.count < 20 { differences.append(place()) }
    }

    private mutating func compareClass(_ expected: ParsedJSON) throws {
        let name = expected["name"]?.text ?? ""
        guard let table = snapshot.classTable(named: name) else { return expect(false, "class \(name) is missing") }
        expect(expected["count"]?.integer == Int64(table.count), "\(name): count")
        expect(expected["tombstones"]?.integer == Int64(try table.tombstones.count()), "\(name): tombstones")
        guard let objects = expected["objects"]?.elements else { return }
        var position = 0
        var cursor = table.leaves()
        while let leaf = try cursor.next() {
            for index in 0..<leaf.count {
                guard position < objects.count else { return expect(false, "\(name): more objects than expected") }
                try compareObject(Row(leaf: leaf, index: index), table, objects[position], "\(name)")
                position += 1
            }
        }
        expect(position == objects.count, "\(name): \(position) objects of \(objects.count)")
    }

    private mutating func compareObject(_ row: Row, _ table: Table, _ expected: ParsedJSON, _ place: String) throws {
        objectCount += 1
        let place = "\(place) \(row.key.rawValue)"
        expect(expected["key"]?.integer == row.key.rawValue, "\(place): key")
        try compareValues(row, table, expected["values"], place)
        let incoming = expected["backlinks"]?.members ?? []
        for column in table.backlinks {
            let origin = column.targetTable.flatMap { snapshot.table($0) }
            let source = column.oppositeColumn.flatMap { origin?.column($0) }
            guard let origin, let source, source.type == .link, let className = origin.className else { continue }
            let keys = try row.leaf.backlinks(column, row: row.index).keys().map(\.rawValue).sorted()
            let wanted = incoming.first { $0.name == "\(className).\(source.name)" }?.value.elements?.compactMap(\.integer) ?? []
            expect(keys == wanted, "\(place): backlinks of \(className).\(source.name)")
        }
    }

    private mutating func compareValues(_ row: Row, _ table: Table, _ values: ParsedJSON?, _ place: String) throws {
        expect(values?.members?.map(\.name) == table.columns.map(\.name), "\(place): property names")
        for column in table.columns {
            guard let wanted = values?[column.name] else { continue }
            try compare(row, column, wanted, "\(place).\(column.name)")
        }
    }

    private mutating func compare(_ row: Row, _ column: Column, _ wanted: ParsedJSON, _ place: String) throws {
        let isMixed = column.type == .mixed
        guard let collection = column.collection else {
            return try compare(try row.value(column), wanted, isMixed, place)
        }
        let root = try row.leaf.collectionRoot(column, row: row.index)
        if collection == .dictionary {
            let dictionary = try DictionaryView(root: root, space: snapshot.space, keyType: column.dictionaryKeyType)
            return try compare(dictionary, wanted, isMixed, place)
        }
        let hasTombstones = column.targetTable.flatMap { snapshot.table($0)?.hasTombstones } ?? false
        let list = try ListView(
            root: root, space: snapshot.space, shape: column.elementShape, mayHoldUnresolved: hasTombstones)
        try compare(list, wanted, isMixed, place)
    }

    private mutating func compare(_ list: ListView, _ wanted: ParsedJSON, _ isMixed: Bool, _ place: String) throws {
        guard let elements = wanted.elements, elements.count == list.count else {
            return expect(false, "\(place): \(list.count) elements of \(wanted.elements?.count ?? -1)")
        }
        var cursor = list.elements()
        for (index, element) in elements.enumerated() {
            guard let value = try cursor.next() else { return expect(false, "\(place): ends at \(index)") }
            try compare(value, element, isMixed, "\(place)[\(index)]")
            // Positions are another way to the same element.
            if index % 97 == 0 { try compare(try list.value(at: index), element, isMixed, "\(place)[at \(index)]") }
        }
    }

    private mutating func compare(_ dictionary: DictionaryView, _ wanted: ParsedJSON, _ isMixed: Bool, _ place: String) throws {
        guard let members = wanted.members, members.count == dictionary.count else {
            return expect(false, "\(place): \(dictionary.count) entries")
        }
        var entries = dictionary.entries()
        for member in members {
            guard let entry = try entries.next() else { return expect(false, "\(place): ends early") }
            expect(entry.key.bytes.string == member.name, "\(place): key \(member.name)")
            try compare(entry.value, member.value, isMixed, "\(place).\(member.name)")
            let found = try dictionary.find(entry.key.bytes)
            expect(found != nil, "\(place).\(member.name) is not found by its key")
        }
    }

    private mutating func compare(_ value: Value, _ wanted: ParsedJSON, _ isMixed: Bool, _ place: String) throws {
        switch value {
        case .list(let root): try compare(try ListView(nested: root, space: snapshot.space), wanted, true, place)
        case .dictionary(let root): try compare(try DictionaryView(root: root, space: snapshot.space), wanted, true, place)
        case .link(let key, let object): try compareLink(key, object, wanted, place)
        default: expect(ExpectedContents.matches(value, wanted, isMixed), "\(place): \(value) where \(wanted) is expected")
        }
    }

    private mutating func compareLink(_ tableKey: TableKey, _ key: ObjectKey, _ wanted: ParsedJSON, _ place: String) throws {
        guard let table = snapshot.table(tableKey) else { return expect(false, "\(place): link to no table") }
        let link = wanted["$link"] ?? wanted["$embedded"]
        expect(link?["class"]?.text == table.className && link?["key"]?.integer == key.rawValue, "\(place): link")
        guard let row = try table.find(key) else { return expect(false, "\(place): dangling") }
        if let primaryKey = table.primaryKey, let expected = link?["primaryKey"] {
            let value = try row.value(primaryKey)
            expect(ExpectedContents.matches(value, expected, false), "\(place): primary key of the target")
            expect(try table.findByPrimaryKey(value)?.key == key, "\(place): target by primary key")
        }
        if let values = wanted["$embedded"]?["values"] { try compareValues(row, table, values, place) }
    }

    // MARK: - Scalars

    private static func matches(_ value: Value, _ wanted: ParsedJSON, _ isMixed: Bool) -> Bool {
        switch value {
        case .null: return wanted == .null
        case .bool(let flag): return wanted == .bool(flag)
        case .int(let number): return wanted.integer == number
        case .float(let number):
            return real(isMixed ? wanted["$numberFloat"] : wanted) { $0 == Double(number) || Float($0) == number } ?? number.isNaN
        case .double(let number): return real(isMixed ? wanted["$numberDouble"] : wanted) { $0 == number } ?? number.isNaN
        case .string(let text): return wanted.text.map { $0 == text.validatedString } ?? digest(text, wanted["$string"])
        case .binary(let data): return wanted["$binary"]?.text.map { $0 == base64(data) } ?? digest(data, wanted["$binary"])
        case .timestamp(let date):
            let expected = wanted["$date"]
            return expected?["seconds"]?.integer == date.seconds && expected?["nanoseconds"]?.integer == Int64(date.nanoseconds)
        case .decimal(let number): return wanted["$numberDecimal"]?.text == number.description
        case .objectID(let id): return wanted["$oid"]?.text == id.description
        case .uuid(let id): return wanted["$uuid"]?.text == id.description
        case .link, .list, .dictionary: return false
        }
    }

    /// Nil stands for NaN.
    private static func real(_ wanted: ParsedJSON?, _ isEqual: (Double) -> Bool) -> Bool? {
        switch wanted?.text {
        case "NaN": return nil
        case "Infinity": return isEqual(.infinity)
        case "-Infinity": return isEqual(-.infinity)
        default: return wanted?.double.map(isEqual) ?? false
        }
    }

    private static func base64(_ data: ByteView) -> String {
        var text: [UInt8] = []
        Base64.append(data, to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    private static func digest(_ bytes: ByteView, _ wanted: ParsedJSON?) -> Bool {
        guard wanted?["bytes"]?.integer == Int64(bytes.count) else { return false }
        var hash = [UInt8](repeating: 0, count: 32)
        unsafe bytes.withUnsafeBytes { _ = unsafe SHA256($0.baseAddress?.assumingMemoryBound(to: UInt8.self), $0.count, &hash) }
        let text = hash.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        return wanted?["sha256"]?.text == text
    }
}
