// SPDX-License-Identifier: Apache-2.0

/// Five schemas that have together every type of property in every kind of collection, every type of primary key, every index,
/// links and embedded objects wherever they can be.
package enum WorkloadSchemas {
    package static let names = ["types", "keys", "mixed", "embedded", "shop"]

    /// The schema document of a name.
    package static func document(_ name: String) -> String {
        switch name {
        case "types": return types
        case "keys": return keys
        case "mixed": return mixed
        case "embedded": return embedded
        default: return shop
        }
    }

    private static let scalars = ["int", "bool", "string", "data", "date", "float", "double", "decimal128", "objectId", "uuid"]
    private static let indexable: Set<String> = ["int", "bool", "string", "date", "objectId", "uuid"]

    private static func property(
        _ name: String, _ type: String, _ collection: String? = nil, optional: Bool = false, index: String? = nil,
        to target: String? = nil
    ) -> String {
        var text = #"{"name":"\#(name)","type":"\#(type)""#
        if let collection { text += #","collection":"\#(collection)""# }
        if optional { text += #","optional":true"# }
        if let index { text += #","indexed":"\#(index)""# }
        if let target { text += #","objectType":"\#(target)""# }
        return text + "}"
    }

    private static func make(_ name: String, key: String? = nil, type: String = "object", _ properties: [String]) -> String {
        let key = key.map { #","primaryKey":"\#($0)""# } ?? ""
        return #"{"name":"\#(name)","type":"\#(type)"\#(key),"properties":[\#(properties.joined(separator: ","))]}"#
    }

    private static func document(_ classes: [String]) -> String {
        #"{"schemaVersion":1,"classes":[\#(classes.joined(separator: ","))]}"#
    }

    /// Every scalar type, required and optional, single and in every collection.
    private static var types: String {
        let kinds: [(String, String?)] = [("", nil), ("List", "list"), ("Set", "set"), ("Map", "dictionary")]
        var singles: [String] = []
        var collections: [String] = []
        for type in scalars {
            for isOptional in [false, true] {
                for (suffix, collection) in kinds {
                    let name = type + (isOptional ? "Optional" : "") + suffix
                    let index = collection == nil && indexable.contains(type) ? "general" : nil
                    let text = property(name, type, collection, optional: isOptional, index: index)
                    if collection == nil { singles.append(text) } else { collections.append(text) }
                }
            }
        }
        return document([
            make("Single", key: "_id", [property("_id", "int")] + singles + [property("text", "string", index: "fulltext")]),
            make("Plain", singles.map { $0.replacing(#","indexed":"general""#, with: "") }),
            make("Many", key: "_id", [property("_id", "string", optional: true)] + collections),
        ])
    }

    /// Every type of primary key, and links among all of them.
    private static var keys: String {
        let kinds: [(name: String, type: String?, isOptional: Bool)] = [
            ("Int", "int", false), ("MaybeInt", "int", true), ("Text", "string", false), ("MaybeText", "string", true),
            ("Oid", "objectId", false), ("MaybeOid", "objectId", true), ("Uid", "uuid", false), ("MaybeUid", "uuid", true),
            ("Keyless", nil, false),
        ]
        return document(
            kinds.enumerated().map { index, kind in
                let (next, other) = (kinds[(index + 1) % kinds.count].name, kinds[(index + 4) % kinds.count].name)
                var properties = [
                    property("n", "int", optional: true, index: "general"), property("name", "string"),
                    property("next", "object", to: next), property("self", "object", to: kind.name),
                    property("all", "object", "list", to: other), property("some", "object", "set", to: next),
                    property("named", "object", "dictionary", to: other),
                ]
                if let type = kind.type { properties.insert(property("_id", type, optional: kind.isOptional), at: 0) }
                return make(kind.name, key: kind.type == nil ? nil : "_id", properties)
            })
    }

    /// Mixed in every place.
    private static var mixed: String {
        document([
            make(
                "Any", key: "_id",
                [
                    property("_id", "int"), property("any", "mixed"), property("nested", "mixed"),
                    property("sharp", "mixed", index: "general"),
                    property("list", "mixed", "list"), property("set", "mixed", "set"), property("map", "mixed", "dictionary"),
                    property("n", "int"), property("friend", "object", to: "Any"),
                ]),
            make(
                "Loose",
                [
                    property("any", "mixed"), property("list", "mixed", "list"), property("links", "object", "list", to: "Any"),
                    property("holder", "object", to: "Holder"), property("n", "int", optional: true),
                ]),
            make("Target", key: "_id", [property("_id", "uuid"), property("back", "mixed"), property("tags", "string", "set")]),
            make(
                "Holder", type: "embedded",
                [property("any", "mixed"), property("list", "mixed", "list"), property("map", "mixed", "dictionary")]),
        ])
    }

    /// Embedded objects in every place, three levels deep, with everything inside.
    private static var embedded: String {
        document([
            make(
                "Owner", key: "_id",
                [
                    property("_id", "objectId"), property("one", "object", to: "Outer"),
                    property("many", "object", "list", to: "Outer"),
                    property("named", "object", "dictionary", to: "Outer"), property("leaf", "object", to: "Leaf"),
                    property("n", "int", index: "general"), property("boss", "object", to: "Owner"),
                ]),
            make(
                "Other",
                [
                    property("leaves", "object", "list", to: "Leaf"), property("inner", "object", to: "Inner"),
                    property("owners", "object", "set", to: "Owner"), property("n", "int", optional: true),
                ]),
            make(
                "Outer", type: "embedded",
                [
                    property("code", "string"), property("inner", "object", to: "Inner"),
                    property("inners", "object", "list", to: "Inner"),
                    property("owner", "object", to: "Owner"), property("owners", "object", "list", to: "Owner"),
                    property("any", "mixed"),
                ]),
            make(
                "Inner", type: "embedded",
                [
                    property("size", "int", optional: true), property("leaf", "object", to: "Leaf"),
                    property("leaves", "object", "dictionary", to: "Leaf"), property("tags", "string", "list", optional: true),
                    property("others", "object", "dictionary", to: "Other"),
                ]),
            make(
                "Leaf", type: "embedded",
                [
                    property("label", "string"), property("marks", "int", "set"),
                    property("prices", "decimal128", "dictionary", optional: true),
                    property("when", "date", optional: true), property("ids", "uuid", "list"),
                ]),
        ])
    }

    /// Something like an app: full text, long texts and data, many small objects, linking objects.
    private static var shop: String {
        document([
            make(
                "Product", key: "_id",
                [
                    property("_id", "int"), property("name", "string", index: "general"),
                    property("about", "string", optional: true, index: "fulltext"),
                    property("price", "decimal128"), property("stock", "int"), property("picture", "data", optional: true),
                    property("tags", "string", "list"), property("words", "string", "set"),
                    property("category", "object", to: "Category"),
                ]),
            make(
                "Category", key: "_id",
                [
                    property("_id", "string"), property("parent", "object", to: "Category"),
                    property("titles", "string", "dictionary", optional: true),
                    property("$odd", "string", optional: true), property("ä ö", "double", "list"),
                ]),
            make(
                "Customer",
                [
                    property("name", "string", index: "fulltext"), property("since", "date", index: "general"),
                    property("flag", "bool", index: "general"),
                    property("address", "object", to: "Address"), property("favourites", "object", "list", to: "Product"),
                    property("weight", "float", optional: true), property("token", "uuid", optional: true, index: "general"),
                ]),
            make(
                "Order", key: "_id",
                [
                    property("_id", "uuid"), property("customer", "object", to: "Customer"),
                    property("lines", "object", "list", to: "Line"),
                    property("notes", "mixed", "dictionary"), property("total", "double"),
                    property("number", "int", index: "general"),
                ]),
            make(
                "Line", type: "embedded",
                [
                    property("product", "object", to: "Product"), property("count", "int"),
                    property("discount", "float", optional: true),
                ]),
            make(
                "Address", type: "embedded",
                [property("street", "string"), property("phones", "string", "list"), property("geo", "double", "list")]),
        ])
    }
}
