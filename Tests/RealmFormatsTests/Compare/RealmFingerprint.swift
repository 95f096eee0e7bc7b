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
                texts.append((table, key, DifferenceList.canonical(try JSONParser.parse(writer.bytes, depthLimit: 320))))
            }
        }
        return texts
    }
}
