// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmPlatform
import RealmQuery
import RealmStorage
import RealmTestSupport

/// Turns the values of vectors into arguments.
enum VectorArguments {
    struct Unknown: Error { let value: ParsedJSON }

    static func argument(_ json: ParsedJSON, in snapshot: Snapshot) throws -> QueryArgument {
        switch json {
        case .null: return .null
        case .bool(let value): return .bool(value)
        case .integer(let number): return .int(number)
        case .number: throw Unknown(value: json)
        case .string(let text): return .string(text)
        case .array: throw Unknown(value: json)
        case .object(let members):
            guard members.count == 1 else { throw Unknown(value: json) }
            return try tagged(members[0].name, members[0].value, in: snapshot)
        }
    }

    private static func tagged(_ tag: String, _ value: ParsedJSON, in snapshot: Snapshot) throws -> QueryArgument {
        switch tag {
        case "$float": return .float(Float(try real(value)))
        case "$double": return .double(try real(value))
        case "$decimal":
            guard let text = value.text, let number = Decimal128(text) else { throw Unknown(value: value) }
            return .decimal(number)
        case "$binary":
            guard let text = value.text, let data = Data(base64Encoded: text) else { throw Unknown(value: value) }
            return .binary(Array(data))
        case "$date":
            guard let parts = value.elements, let seconds = parts[0].integer, let nanoseconds = parts[1].integer else {
                throw Unknown(value: value)
            }
            return .timestamp(Timestamp(seconds: seconds, nanoseconds: Int32(nanoseconds)))
        case "$oid":
            guard let text = value.text, let id = ObjectID(text) else { throw Unknown(value: value) }
            return .objectID(id)
        case "$uuid":
            guard let text = value.text, let id = UUIDValue(text) else { throw Unknown(value: value) }
            return .uuid(id)
        case "$link":
            guard let parts = value.elements, let name = parts[0].text, let table = snapshot.classTable(named: name) else {
                throw Unknown(value: value)
            }
            if table.primaryKey != nil {
                return .object(className: name, primaryKey: try argument(parts[1], in: snapshot))
            }
            guard let key = parts[1].integer else { throw Unknown(value: value) }
            return .link(table.key, ObjectKey(key))
        case "$objkey":
            guard let key = value.integer else { throw Unknown(value: value) }
            return .objectKey(ObjectKey(key))
        case "$list":
            return .list(try (value.elements ?? []).map { try argument($0, in: snapshot) })
        default: return try VectorShapes.argument(tag, value)
        }
    }

    static func real(_ json: ParsedJSON) throws -> Double {
        switch json {
        case .string("NaN"): return .nan
        case .string("Infinity"): return .infinity
        case .string("-Infinity"): return -.infinity
        default:
            guard let number = json.double else { throw Unknown(value: json) }
            return number
        }
    }

    static func mapping(_ json: ParsedJSON?) -> KeyPathMapping {
        var mapping = KeyPathMapping()
        for alias in json?["properties"]?.elements ?? [] {
            mapping.addProperty(
                alias["alias"]?.text ?? "", of: alias["class"]?.text ?? "", path: alias["path"]?.text ?? "")
        }
        for alias in json?["classes"]?.elements ?? [] {
            mapping.addClass(alias["alias"]?.text ?? "", for: alias["class"]?.text ?? "")
        }
        return mapping
    }
}
