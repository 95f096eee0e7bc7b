// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Makes examples of schemas, so that each part of a description shows a value that it permits.
///
/// An example follows from the schema alone, and never from the contents of a realm: two clients with the same rights get
/// the same document.
struct OpenAPIExamples {
    /// Finds the shared schema of a name; nil for none.
    let lookup: (String) -> DocumentValue?

    /// Makes examples of schemas that refer to no others.
    static var shared: OpenAPIExamples { OpenAPIExamples { _ in nil } }

    /// The depth to which objects in objects are shown.
    private static let depth = 4
    /// The number of members of an object that are shown in addition to required ones.
    private static let members = 24

    /// Examples of texts by the name of their member or parameter.
    private static let texts: [ByteText: String] = [
        "version": "k3f9q2.1841", "fileVersion": "k3f9q2.1841", "from": "k3f9q2.1841", "to": "k3f9q2.1842", "next": "k3f9q2.1842",
        "after": "k3f9q2.1842", "etag": "\"h7Yq0c\"", "key": "1", "keys": "1", "class": "Category", "classes": "Category",
        "objectType": "Category", "property": "name", "name": "store", "where": "TRUEPREDICATE", "sort": "-name",
        "distinct": "name", "fields": "name", "keyPaths": "name", "groupBy": "name", "facets": "name", "ops": "count",
        "sectionBy": "name:first", "instance": "urn:uuid:01a21502-a6a0-769f-b178-36eb8f1f3f0e", "path": "/data/store.realm",
        "type": "string", "title": "Unknown property", "status": "ok", "code": "unknown_property",
        "detail": "class 'Category' has no property 'nam'", "pointer": "/nam", "parameter": "where", "header": "If-Match",
        "limitName": "page", "url": "/v1/realms/store/changes?ticket=-IWPmBhuZfCeNnonEjqsgB", "sub": "default", "subs": "default",
        "plan": "scan of all objects", "snapshot": "yjtFIZ9MAzf9sy0-cB4g-A", "csrfToken": "Jt0l3Cq1Zb", "roles": "editor",
    ]

    /// Returns the schema with an example at each part of it that has none. References and schemas of any value are left
    /// unchanged.
    ///
    /// - Parameters:
    ///   - name: The name of its member or parameter.
    func completed(_ schema: DocumentValue, named name: String) -> DocumentValue {
        guard case .object(let members) = schema, schema["$ref"] == nil else { return schema }
        let inner = DocumentValue.object(
            members.map { member in
                switch member.name {
                case "properties":
                    return .init(
                        member.name, .object(member.value.members.map { .init($0.name, completed($0.value, named: $0.name)) }))
                case "items", "additionalProperties": return .init(member.name, completed(member.value, named: name))
                default: return member
                }
            })
        guard schema["type"] != nil, schema["example"] == nil else { return inner }
        return inner.adding([.init("example", value(of: schema, named: name, depth: 0))])
    }

    /// Returns a value that a schema permits.
    ///
    /// - Parameters:
    ///   - name: The name of its member or parameter.
    ///   - depth: The number of objects around the value.
    func value(of schema: DocumentValue, named name: String, depth: Int) -> DocumentValue {
        if let example = schema["example"] ?? schema["default"] ?? schema["enum"]?.elements.first { return example }
        if let reference = schema["$ref"]?.text ?? schema["anyOf"]?.elements.first?["$ref"]?.text {
            let target = String(reference.split(separator: "/").last ?? "")
            guard depth < OpenAPIExamples.depth, let found = lookup(target) else { return .object([]) }
            return value(of: found, named: name, depth: depth)
        }
        switch schema["type"]?.text {
        case "object": return object(schema, named: name, depth: depth)
        case "array": return array(schema, named: name, depth: depth)
        case "integer": return schema["minimum"] ?? 1
        case "number": return .json("0.5")
        case "boolean": return false
        case "string": return .string(text(schema, named: name))
        default: return .string(OpenAPIExamples.texts[name] ?? "value")
        }
    }

    /// Returns an array with one element, or none where arrays would nest too deeply.
    private func array(_ schema: DocumentValue, named name: String, depth: Int) -> DocumentValue {
        guard let items = schema["items"], depth < OpenAPIExamples.depth - 1 || schema["minItems"] != nil else { return [] }
        return [value(of: items, named: name, depth: depth)]
    }

    /// Returns an object with the members that it needs, and the first of those that it may have.
    private func object(_ schema: DocumentValue, named name: String, depth: Int) -> DocumentValue {
        let required = Set<ByteText>(texts: schema["required"]?.elements.compactMap(\.text) ?? [])
        let most = schema["maxProperties"] == 1 ? 1 : depth < 2 ? OpenAPIExamples.members : OpenAPIExamples.members / 4
        var shown: [DocumentValue.Member] = []
        for member in schema["properties"]?.members ?? []
        where required.contains(member.name) || shown.count < most {
            if depth + 1 >= OpenAPIExamples.depth, !required.contains(member.name) { continue }
            shown.append(.init(member.name, value(of: member.value, named: member.name, depth: depth + 1)))
        }
        if shown.isEmpty, schema["properties"] == nil, let values = schema["additionalProperties"],
            values["type"] != nil || values["$ref"] != nil
        {
            shown.append(.init("name", value(of: values, named: name, depth: depth + 1)))
        }
        return .object(shown)
    }

    /// Returns a text of a format or a name.
    private func text(_ schema: DocumentValue, named name: String) -> String {
        switch schema["format"]?.text {
        case "date-time": return "2024-05-17T09:30:00Z"
        case "uuid": return "bce5bc57-1eab-416f-a488-7764ac0b8b78"
        case "byte": return "AAEC"
        case "binary": return "bytes"
        default: return OpenAPIExamples.texts[name] ?? "text"
        }
    }
}
