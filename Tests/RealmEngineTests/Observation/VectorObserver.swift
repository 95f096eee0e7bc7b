// SPDX-License-Identifier: Apache-2.0

import RealmEngine
import RealmPlatform
import RealmQuery
import RealmStorage
import RealmTestSupport

/// The observer of a vector: its target, and changes and contents as vectors write them.
struct VectorObserver {
    let json: ParsedJSON
    let database: Database

    var id: String { json["id"]?.text ?? "o" }

    struct Unusable: Error { let json: ParsedJSON }

    // MARK: - The target

    func target() throws -> ObservedTarget {
        let snapshot = database.current.snapshot
        guard let table = snapshot.classTable(named: json["class"]?.text ?? "") else { throw Unusable(json: json) }
        switch json["kind"]?.text ?? "" {
        case "results": return try target(.results(table.key, try query("query")), of: table, snapshot)
        case "sectioned":
            return try target(.sections(table.key, try query("query"), sections), of: table, snapshot)
        case "object": return try object(table, snapshot)
        case "list", "set", "dictionary": return try collection(table, snapshot)
        case "linkingObjects": return try linkingObjects(table, snapshot)
        default: throw Unusable(json: json)
        }
    }

    private func target(_ kind: ObservedTarget.Kind, of table: Table?, _ snapshot: Snapshot) throws -> ObservedTarget {
        var filter = ObservedTarget.Filter.all
        if json["shallow"] == .bool(true) {
            filter = .shallow
        } else if let paths = json["keyPaths"]?.elements?.compactMap(\.text), !paths.isEmpty, let table {
            filter = .keyPaths(try KeyPathFilter.resolve(paths, of: table, in: snapshot, names: database.backlinkNames))
        }
        return ObservedTarget(kind, filter: filter, identity: "\(json)")
    }

    private func query(_ member: String) throws -> ObservedQuery {
        let sort = (json["sort"]?.elements ?? []).compactMap(\.elements).map { pair in
            ResultOrder.Key(path: pair[0].text ?? "", isAscending: pair[1] == .bool(true))
        }
        let distinct = (json["distinct"]?.elements ?? []).compactMap(\.text)
        return ObservedQuery(
            try json[member]?.text.map { try Query.parse($0) } ?? .all, order: ResultOrder(sort: sort, distinct: distinct))
    }

    private var sections: ObservedSections {
        let how = json["sectionBy"]?["how"]?.text
        let key: @Sendable (PagePosition.Cell) throws(ObservationError) -> SectionIdentity = { cell in
            guard case .value(let value) = cell else { return SectionIdentity("") }
            switch (value, how) {
            case (.string(let text), "firstLetter"): return SectionIdentity(String(text.prefix(1)))
            case (.string(let text), _): return SectionIdentity(text)
            case (.int(let number), "parity"): return SectionIdentity("\(number & 1)")
            case (.int(let number), _): return SectionIdentity("\(number)")
            default: return SectionIdentity("")
            }
        }
        guard let section = json["section"]?.text else { return ObservedSections(key: key) }
        return ObservedSections(key: key, fit: { $0 == SectionIdentity(section) ? 1 : 0 })
    }

    private func row(_ table: Table) throws -> Row {
        guard let row = try table.findByPrimaryKey(.int(json["_id"]?.integer ?? -1)) else { throw Unusable(json: json) }
        return row
    }

    private func object(_ table: Table, _ snapshot: Snapshot) throws -> ObservedTarget {
        let object = try subject(in: snapshot)
        return try target(.object(object), of: snapshot.table(object.table), snapshot)
    }

    /// The observed object: that of the class and key, or an embedded object in it.
    private func subject(in snapshot: Snapshot) throws -> ObservedObject {
        guard var table = snapshot.classTable(named: json["class"]?.text ?? "") else { throw Unusable(json: json) }
        var row = try row(table)
        var steps = (json["path"]?.elements ?? [])[...]
        while let name = steps.popFirst()?.text {
            guard let column = table.column(named: name) else { throw Unusable(json: json) }
            var value = Value.null
            if column.collection == nil {
                value = try row.value(column)
            } else if let index = steps.popFirst()?.integer {
                let root = try row.leaf.collectionRoot(column, row: row.index)
                value = try ListView(root: root, space: snapshot.space, shape: column.elementShape).value(at: Int(index))
            }
            guard case .link(let key, let child) = value, let next = snapshot.table(key), let found = try next.find(child) else {
                throw Unusable(json: json)
            }
            (table, row) = (next, found)
        }
        return ObservedObject(table.key, row.key)
    }

    private func linkingObjects(_ table: Table, _ snapshot: Snapshot) throws -> ObservedTarget {
        let path = database.backlinkNames.byClass[table.className ?? ""]?[json["property"]?.text ?? ""] ?? ""
        let words = path.split(separator: ".").map(String.init)
        guard words.count == 2, let origin = snapshot.classTable(named: words[0]), let column = origin.column(named: words[1])
        else { throw Unusable(json: json) }
        let object = ObservedObject(table.key, try row(table).key)
        return try target(.linkingObjects(to: object, origin: origin.key, column.key, nil), of: origin, snapshot)
    }

    private func collection(_ table: Table, _ snapshot: Snapshot) throws -> ObservedTarget {
        guard let column = table.column(named: json["property"]?.text ?? "") else { throw Unusable(json: json) }
        let property = ObservedProperty(ObservedObject(table.key, try row(table).key), column.key)
        let element = column.targetTable.flatMap { snapshot.table($0) }
        let isView = json["filter"] != nil || json["sort"] != nil || json["distinct"] != nil
        return try target(isView ? .view(property, try query("filter")) : .collection(property), of: element, snapshot)
    }

    // MARK: - Changes

    /// A change as text in one form, as it is expected.
    static func expected(_ json: ParsedJSON) -> String {
        if json["deleted"] == .bool(true) { return "deleted" }
        if let properties = json["properties"]?.elements {
            return properties.map { property in
                if property["collection"] == .bool(true) { return "\(property["name"]?.text ?? "") collection" }
                if property["linkingObjects"] == .bool(true) { return "\(property["name"]?.text ?? "") linkingObjects" }
                return "\(property["name"]?.text ?? "") \(text(property["oldValue"])) \(text(property["newValue"]))"
            }.joined(separator: ", ")
        }
        let flags =
            (json["cleared"] == .bool(true) ? " cleared" : "") + (json["rootDeleted"] == .bool(true) ? " rootDeleted" : "")
        if json["deletedKeys"] != nil {
            return ["deletedKeys", "insertedKeys", "modifiedKeys"].map { name in
                "\((json[name]?.elements ?? []).compactMap(\.text))"
            }.joined(separator: " ") + flags
        }
        if json["sectionsToDelete"] != nil {
            let places = ["deletions", "insertions", "modifications"].map { name in
                "\((json[name]?.elements ?? []).map(\.indices))"
            }
            return "\(json["sectionsToDelete"]?.indices ?? []) \(json["sectionsToInsert"]?.indices ?? []) "
                + places.joined(separator: " ")
        }
        return text(CollectionChanges(vector: json))
    }

    private static func text(_ json: ParsedJSON?) -> String {
        switch json {
        case .integer(let number)?: return "\(number)"
        case .string(let text)?: return "'\(text)'"
        case .object?: return "#\(json?["$link"]?["_id"]?.integer ?? -1)"
        default: return "null"
        }
    }

    static func text(_ changes: CollectionChanges) -> String {
        "-\(changes.deletions) +\(changes.insertions) ~\(changes.modifications) \(changes.modificationsNew) "
            + "\(changes.moves.map { [$0.from, $0.to] })" + flags(changes.isCleared, changes.isRootDeleted)
    }

    private static func flags(_ isCleared: Bool, _ isRootDeleted: Bool) -> String {
        (isCleared ? " cleared" : "") + (isRootDeleted ? " rootDeleted" : "")
    }

    /// The same of what was told.
    func text(_ event: ObservationEvent) throws -> String {
        switch event.change {
        case .rows(let rows): return VectorObserver.text(rows.changes)
        case .values(let values): return VectorObserver.text(values.changes)
        case .dictionary(let change):
            let keys = [change.deleted, change.inserted, change.modified].map { "\($0.map(\.bytes.string))" }
            return keys.joined(separator: " ") + VectorObserver.flags(change.isCleared, change.isRootDeleted)
        case .objectDeleted: return "deleted"
        case .object(let steps): return try steps.map { try text($0, event) }.joined(separator: ", ")
        case .sections(let change):
            let changes = change.changes
            return "\(changes.sectionsToDelete) \(changes.sectionsToInsert) \(changes.deletions.map { [$0.section, $0.row] }) "
                + "\(changes.insertions.map { [$0.section, $0.row] }) \(changes.modifications.map { [$0.old.section, $0.old.row] })"
        case .realm, .unknown: return "\(event.change)"
        }
    }

    private func text(_ step: KeyPathFilter.Step, _ event: ObservationEvent) throws -> String {
        let snapshot = event.to.snapshot
        if case .linkingObjects(let target, let origin, let column) = step {
            let table = snapshot.table(origin)
            let name = database.backlinkNames.name(
                of: snapshot.table(target)?.className ?? "", origin: table?.className ?? "",
                property: table?.column(column)?.name ?? "")
            return "\(name ?? "") linkingObjects"
        }
        guard case .property(let key, let column) = step, let property = snapshot.table(key)?.column(column) else { return "?" }
        if property.collection != nil { return "\(property.name) collection" }
        let values = try [event.from, event.to].map { version -> String in
            guard let table = version.snapshot.table(key), let row = try table.find(subject(in: version.snapshot).key) else {
                return "gone"
            }
            let value = try row.value(property)
            guard case .link(let target, let key) = value else { return VectorObserver.text(value) }
            return "#\(try VectorObserver.id(of: key, target, version.snapshot))"
        }
        return "\(property.name) \(values[0]) \(values[1])"
    }

    private static func text(_ value: Value) -> String {
        switch value {
        case .int(let number): return "\(number)"
        case .string(let text): return "'\(text.string)'"
        default: return "null"
        }
    }

    // MARK: - Contents

    /// What of the contents of a vector is its own: vectors have all sections where one is observed.
    func own(_ contents: ParsedJSON) -> ParsedJSON {
        guard let section = json["section"], let sections = contents.elements else { return contents }
        return .array(sections.filter { $0["key"] == section })
    }

    /// Contents as text in one form, as they are expected.
    static func expectedContents(_ json: ParsedJSON) -> String {
        switch json {
        case .null: return "gone"
        case .bool(let flag): return flag ? "object" : "gone"
        case .array(let elements): return "[" + elements.map(expectedElement).joined(separator: " ") + "]"
        default: return expectedElement(json)
        }
    }

    private static func expectedElement(_ json: ParsedJSON) -> String {
        switch json {
        case .integer(let number): return "\(number)"
        case .string(let text): return "'\(text)'"
        case .object(let members):
            if let key = json["key"]?.text, let rows = json["rows"]?.indices { return "\(key):\(rows)" }
            return "{" + members.map { "\($0.name):\(expectedElement($0.value))" }.joined(separator: " ") + "}"
        default: return "null"
        }
    }

    func text(_ contents: ObservedContents) throws -> String {
        let snapshot = database.current.snapshot
        switch contents {
        case .gone: return "gone"
        case .object: return "object"
        case .realm: return "realm"
        case .rows(let table, let keys):
            return "[" + (try keys.map { try element($0, table, snapshot) }.joined(separator: " ")) + "]"
        case .sections(let table, let sections):
            return "["
                + (try sections.map { section in
                    "\(section.key.value.text):\(try section.rows.map { try VectorObserver.id(of: $0, table, snapshot) })"
                }.joined(separator: " ")) + "]"
        case .values(_, let places): return try values(places, snapshot)
        case .dictionary: return try values(nil, snapshot)
        }
    }

    private func element(_ key: ObjectKey, _ table: TableKey, _ snapshot: Snapshot) throws -> String {
        guard let table = snapshot.table(table) else { return "?" }
        if table.primaryKey != nil { return "\(try VectorObserver.id(of: key, table.key, snapshot))" }
        guard let row = try table.find(key) else { return "?" }
        let plain = table.columns.filter { $0.type != .link && $0.collection == nil }
        return "{" + (try plain.map { "\($0.name):\(VectorObserver.text(try row.value($0)))" }.joined(separator: " ")) + "}"
    }

    private func values(_ places: [Int]?, _ snapshot: Snapshot) throws -> String {
        guard let table = snapshot.classTable(named: json["class"]?.text ?? ""),
            let column = table.column(named: json["property"]?.text ?? "")
        else { return "?" }
        let row = try row(table)
        let root = try row.leaf.collectionRoot(column, row: row.index)
        if column.collection == .dictionary {
            let dictionary = try DictionaryView(root: root, space: snapshot.space)
            return "["
                + (try (0..<dictionary.count).map { "'\(try dictionary.key(at: $0).bytes.string)'" }.joined(separator: " ")) + "]"
        }
        let list = try ListView(root: root, space: snapshot.space, shape: column.elementShape)
        return "["
            + (try (places ?? Array(0..<list.count)).map { place in
                let value = try list.value(at: place)
                guard case .link(let target, let key) = value else { return VectorObserver.text(value) }
                return "\(try VectorObserver.id(of: key, target, snapshot))"
            }.joined(separator: " ")) + "]"
    }

    private static func id(of key: ObjectKey, _ table: TableKey, _ snapshot: Snapshot) throws -> Int64 {
        guard let table = snapshot.table(table), let column = table.primaryKey, let row = try table.find(key),
            case .int(let id) = try row.value(column)
        else { return -1 }
        return id
    }
}

extension GroupValue {
    /// The text that the value is; empty for all other values.
    fileprivate var text: String {
        if case .string(let text) = value { return text }
        return ""
    }
}
