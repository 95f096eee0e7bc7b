// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Gives names to objects inside of schemas.
///
/// A generator makes a class of each object, and invents a name for one that is described in place. Here the name follows from
/// where the object stands, so that it stays the same, and the description has it as a separate component.
enum OpenAPISchemaSplit {
    /// Better names than those that would follow from the place.
    private static let names: [ByteText: String] = [
        "AggregatesGroup": "AggregateGroup", "MetaOwner": "ObjectOwner", "MetaRoot": "ObjectRoot",
        "RealmDocumentBackup": "RealmFileBackup", "SchemaClassBacklink": "SchemaBacklink",
        "JSONPatchItem": "JSONPatchOperation",
    ]

    /// Returns a schema with references in place of the objects in it, and these objects.
    ///
    /// - Returns: The schema first, then the objects in their order in it.
    static func parts(of name: String, _ schema: DocumentValue) -> [(String, DocumentValue)] {
        var found: [(String, DocumentValue)] = []
        let whole = replaced(schema, name: name, isWhole: true, &found)
        return [(name, whole)] + found
    }

    /// Returns a schema in which references are in place of objects; itself a reference when it is such an object.
    private static func replaced(
        _ schema: DocumentValue, name: String, isWhole: Bool, _ found: inout [(String, DocumentValue)]
    ) -> DocumentValue {
        guard case .object(let members) = schema else { return schema }
        let isNamed = !isWhole && schema["properties"] != nil
        let own = isNamed ? names[name] ?? name : name
        let place = found.count
        if isNamed { found.append((own, .null)) }
        let rewritten = members.map { member -> DocumentValue.Member in
            switch member.name {
            case "properties":
                let properties = member.value.members.map { property in
                    DocumentValue.Member(
                        property.name, replaced(property.value, name: own + capitalized(property.name), isWhole: false, &found))
                }
                return .init("properties", .object(properties))
            case "items", "additionalProperties":
                let inner = isWhole ? own + "Item" : singular(own)
                return .init(member.name, replaced(member.value, name: inner, isWhole: false, &found))
            default: return member
            }
        }
        guard isNamed else { return .object(rewritten) }
        found[place].1 = .object(rewritten.filter { $0.name != "nullable" })
        let reference = OpenAPIParts.schema(own)
        return schema["nullable"] == nil ? reference : reference.orNull
    }

    /// Returns the name of a member as a part of another name.
    private static func capitalized(_ name: String) -> String {
        let plain = name.drop { $0 == "$" }
        return plain.prefix(1).uppercased() + plain.dropFirst()
    }

    /// Returns the name of one of several.
    private static func singular(_ name: String) -> String {
        if name.hasSuffix("ies") { return String(name.dropLast(3)) + "y" }
        return name.hasSuffix("s") && !name.hasSuffix("ss") ? String(name.dropLast()) : name
    }
}
