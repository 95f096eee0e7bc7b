// SPDX-License-Identifier: Apache-2.0

import RealmFormats
internal import RealmHTTP
internal import RealmTestSupport

/// What requests about a realm are made of: its classes, their properties, and keys of some objects.
struct SchemaOutline {
    struct Property {
        let name: String
        let type: String
        let collection: String?
        let target: String?

        var isNumber: Bool { ["int", "float", "double", "decimal128"].contains(type) }
    }

    struct Class {
        let name: String
        let primaryKey: String?
        let isEmbedded: Bool
        let properties: [Property]
        var keys: [String] = []
    }

    let version: Int64
    var classes: [Class]

    init?(_ schema: ParsedJSON) {
        guard let list = schema["classes"]?.elements else { return nil }
        version = schema["schemaVersion"]?.integer ?? 0
        classes = list.compactMap { one in
            guard let name = one["name"]?.text else { return nil }
            let properties = (one["properties"]?.elements ?? []).compactMap { property -> Property? in
                guard let name = property["name"]?.text, let type = property["type"]?.text else { return nil }
                return Property(
                    name: name, type: type, collection: property["collection"]?.text, target: property["objectType"]?.text)
            }
            return Class(
                name: name, primaryKey: one["primaryKey"]?.text, isEmbedded: one["type"]?.text == "embedded",
                properties: properties)
        }
    }

    /// The keys of the objects in a page.
    static func keys(_ page: ParsedJSON) -> [String] {
        (page["items"]?.elements ?? []).compactMap { item in
            switch item["$meta"]?["key"] {
            case .string(let text)?: return text
            case .integer(let number)?: return String(number)
            default: return nil
            }
        }
    }
}

extension String {
    /// As a segment or parameter of a target.
    var escaped: String { PercentDecoding.encode(self) }
}
