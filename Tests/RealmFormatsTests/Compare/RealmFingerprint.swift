// SPDX-License-Identifier: Apache-2.0

@testable import RealmFormats
import RealmPlatform
import RealmStorage

/// Everything in a version as texts that do not depend on object keys, on the order of classes and members, or on layout.
///
/// A link to an object without a primary key counts by the contents of its target, by the contents of the targets of that, and so
/// on to a depth that no random realm exceeds without repeating itself.
struct RealmFingerprint {
    private static let depth = 24

    /// The texts of all objects, sorted.
    let objects: [String]

    init(_ snapshot: Snapshot) throws {
        var colors: [TableKey: [ObjectKey: Int]] = [:]
        var texts: [(table: Table, key: ObjectKey, text: String)] = []
        for _ in 0..<RealmFingerprint.depth {
            texts = try RealmFingerprint.texts(snapshot, colors)
            for (table, key, text) in texts where table.primaryKey == nil {
                var hasher = Hasher()
                for byte in text.utf8 { hasher.combine(byte) }
                colors[table.key, default: [:]][key] = hasher.finalize()
            }
        }
        objects = texts.map { "\($0.table.className ?? "") \($0.text)" }.sorted()
    }

    private static func texts(
        _ snapshot: Snapshot, _ colors: [TableKey: [ObjectKey: Int]]
    ) throws -> [(table: Table, key: ObjectKey, text: String)] {
        let encoder = ObjectEncoder(snapshot, Representation(includesMeta: false))
        encoder.keyOfTarget = { table, key in table.primaryKey == nil ? "\(colors[table.key]?[key] ?? 0)" : nil }
        var texts: [(table: Table, key: ObjectKey, text: String)] = []
        for table in snapshot.classes where table.kind == .topLevel {
            let plan = try ObjectPlanner(snapshot).plan(table)
            for key in try RandomContents.keys(table) {
                guard let row = try table.find(key) else { continue }
                var writer = JSONWriter()
                try encoder.write(row, plan, to: &writer)
                let sets = Set<ByteText>(texts: snapshot.classes.flatMap(\.columns).filter { $0.collection == .set }.map(\.name))
                let value = withSortedSets(try JSONParser.parse(writer.bytes, depthLimit: 320), sets)
                texts.append((table, key, DifferenceList.canonical(value)))
            }
        }
        return texts
    }

    /// Sorts the elements of sets by their texts: links in sets are in the order of object keys.
    private static func withSortedSets(_ value: JSONValue, _ sets: Set<ByteText>, isSet: Bool = false) -> JSONValue {
        switch value {
        case .array(let elements):
            let elements = elements.map { withSortedSets($0, sets) }
            return .array(isSet ? elements.sorted { DifferenceList.canonical($0) < DifferenceList.canonical($1) } : elements)
        case .object(let object):
            return .object(
                JSONObject(object.members.map { ($0.name, withSortedSets($0.value, sets, isSet: sets.contains($0.name))) }))
        default: return value
        }
    }
}
