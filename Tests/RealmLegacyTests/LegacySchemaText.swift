// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
import RealmStorage
import RealmTestSupport

/// Schemas as lines of text, to be compared.
enum LegacySchemaText {
    /// The classes that a dump states.
    static func expected(_ dump: ParsedJSON) -> [String] {
        (dump["classes"]?.elements ?? []).flatMap { one -> [String] in
            let name = one["name"]?.text ?? ""
            let properties = (one["properties"]?.elements ?? []).map { property in
                let parts = [
                    property["name"]?.text ?? "", property["type"]?.text ?? "", property["collection"]?.text ?? "-",
                    property["optional"]?.isTrue == true ? "optional" : "required",
                    property["indexed"]?.text == nil ? "plain" : "indexed", property["objectType"]?.text ?? "-",
                ]
                return "\(name).\(parts.joined(separator: " "))"
            }
            return ["class \(name) \(one["primaryKey"]?.text ?? "-")"] + properties
        }.sorted()
    }

    /// The classes of a version.
    static func found(_ snapshot: Snapshot) -> [String] {
        snapshot.classes.flatMap { table -> [String] in
            let name = table.className ?? ""
            let properties = table.columns.map { column in
                let target = column.targetTable.flatMap { snapshot.table($0)?.className }
                let isOptional = column.isNullable && !(column.type == .link && column.collection != nil)
                let parts = [
                    column.name, type(column.type), column.collection.map { "\($0)" } ?? "-",
                    isOptional ? "optional" : "required",
                    column.hasSearchIndex ? "indexed" : "plain", column.type == .link ? target ?? "-" : "-",
                ]
                return "\(name).\(parts.joined(separator: " "))"
            }
            return ["class \(name) \(table.primaryKey?.name ?? "-")"] + properties
        }.sorted()
    }

    private static func type(_ type: ColumnType) -> String {
        switch type {
        case .binary: return "data"
        case .timestamp: return "date"
        case .link: return "object"
        default: return type.name
        }
    }
}
