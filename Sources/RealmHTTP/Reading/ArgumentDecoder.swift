// SPDX-License-Identifier: Apache-2.0

package import RealmQuery
package import RealmStorage

/// Turns the elements of `args` into query arguments: plain JSON, Extended JSON wrappers, lists and shapes.
package struct ArgumentDecoder {
    private let snapshot: Snapshot

    package init(_ snapshot: Snapshot) { self.snapshot = snapshot }

    package func decode(_ args: [JSONValue]) throws(Problem) -> [QueryArgument] {
        var arguments: [QueryArgument] = []
        for (index, value) in args.enumerated() { arguments.append(try decode(value, at: "/args/\(index)")) }
        return arguments
    }

    private func decode(_ value: JSONValue, at pointer: String) throws(Problem) -> QueryArgument {
        switch value {
        case .null: return .null
        case .bool(let flag): return .bool(flag)
        case .integer(let number): return .int(number)
        case .real(let number): return .double(number)
        case .string(let text): return .string(text)
        case .longInteger, .longReal: throw invalid("the number is out of range; use a wrapper such as $numberDecimal", pointer)
        case .array(let elements):
            var list: [QueryArgument] = []
            for (index, element) in elements.enumerated() { list.append(try decode(element, at: "\(pointer)/\(index)")) }
            return .list(list)
        case .object(let object): return try wrapper(object, pointer)
        }
    }

    private func invalid(_ detail: String, _ pointer: String) -> Problem {
        Problem.invalidParameter("args", detail).with("pointer", pointer)
    }

    // MARK: - Wrappers

    private func wrapper(_ object: JSONObject, _ pointer: String) throws(Problem) -> QueryArgument {
        guard let (name, value) = object.single else {
            throw invalid("an object among the arguments is a wrapper with one member", pointer)
        }
        let argument: QueryArgument?
        switch name {
        case "$numberInt": argument = ArgumentDecoder.integer(value).flatMap { Int32(exactly: $0) }.map { .int(Int64($0)) }
        case "$numberLong": argument = ArgumentDecoder.integer(value).map(QueryArgument.int)
        case "$numberDouble": argument = ArgumentDecoder.real(value).map(QueryArgument.double)
        case "$numberFloat": argument = ArgumentDecoder.float(value).map(QueryArgument.float)
        case "$numberDecimal": argument = ArgumentDecoder.decimal(value).map(QueryArgument.decimal)
        case "$oid": argument = value.string.flatMap { ObjectID($0) }.map(QueryArgument.objectID)
        case "$uuid": argument = value.string.flatMap { UUIDValue($0) }.map(QueryArgument.uuid)
        case "$binary": argument = ArgumentDecoder.binary(value)
        case "$date": argument = ArgumentDecoder.date(value).map(QueryArgument.timestamp)
        case "$instant": argument = ArgumentDecoder.instant(value).map(QueryArgument.timestamp)
        case "$link": argument = try link(value, pointer)
        case "$geoBox", "$geoCircle", "$geoPolygon", "$geoPoint": argument = ShapeDecoder.shape(name, value)
        default: throw invalid("'\(name)' is no wrapper", pointer)
        }
        if let argument { return argument }
        // What is no shape is told as a shape that makes no sense is.
        guard !name.hasPrefix("$geo") else {
            throw Problem(.invalidQuery, "the shape '\(name)' cannot be read").with("parameter", "args").with("pointer", pointer)
        }
        throw invalid("the value of '\(name)' cannot be read", pointer)
    }

    /// The object that a stub names; null when there is none, as for a link to it.
    private func link(_ value: JSONValue, _ pointer: String) throws(Problem) -> QueryArgument? {
        guard let stub = value.object, stub.count == 2, let name = stub["class"]?.string, let key = stub["key"]?.string else {
            return nil
        }
        guard let table = snapshot.classTable(named: name) else {
            throw Problem(.unknownKeyPath, "there is no class '\(name)'").with("parameter", "args").with("pointer", pointer)
        }
        let row = try Problem.mapping { () throws(StorageError) in try KeyText.find(key, in: table) }
        return row.map { .link(table.key, $0.key) } ?? .null
    }

    private static func integer(_ value: JSONValue) -> Int64? {
        switch value {
        case .integer(let number): return number
        case .string(let text): return Int64(text)
        default: return nil
        }
    }

    private static func real(_ value: JSONValue) -> Double? {
        switch value {
        case .integer(let number): return Double(number)
        case .real(let number): return number
        case .string("NaN"): return .nan
        case .string("Infinity"): return .infinity
        case .string("-Infinity"): return -.infinity
        case .string(let text):
            guard JSONTokens.isNumber(text[...].utf8), let number = Double(text), number.isFinite else { return nil }
            return number
        default: return nil
        }
    }

    /// The float nearest to the number; nil for a finite number beyond the range of floats.
    private static func float(_ value: JSONValue) -> Float? {
        if case .string(let text) = value, JSONTokens.isNumber(text[...].utf8) {
            return Float(text).flatMap { $0.isFinite ? $0 : nil }
        }
        guard let number = real(value) else { return nil }
        let float = Float(number)
        return float.isFinite == number.isFinite ? float : nil
    }

    private static func decimal(_ value: JSONValue) -> Decimal128? {
        let text: String
        switch value {
        case .string(let digits), .longInteger(let digits): text = digits
        case .integer(let number): text = String(number)
        default: return nil
        }
        guard let parsed = Decimal128.parse(text), parsed.isExact else { return nil }
        return parsed.value
    }

    private static func binary(_ value: JSONValue) -> QueryArgument? {
        if let text = value.string { return Base64.decode(text).map(QueryArgument.binary) }
        guard let object = value.object, object.count == 2, let bytes = object["base64"]?.string.flatMap({ Base64.decode($0) }),
            let subtype = object["subType"]?.string
        else { return nil }
        guard subtype == "04" || subtype == "4" else { return .binary(bytes) }
        let storage = ByteStorage(bytes)
        return withExtendedLifetime(storage) { UUIDValue(bytes: storage.view).map(QueryArgument.uuid) }
    }

    /// RFC 3339 text, or milliseconds as `$numberLong`.
    private static func date(_ value: JSONValue) -> Timestamp? {
        if let text = value.string { return Timestamp(rfc3339: text) }
        guard let (name, inner) = value.object?.single, name == "$numberLong", let milliseconds = integer(inner) else { return nil }
        return Timestamp(seconds: milliseconds / 1000, nanoseconds: Int32(milliseconds % 1000) * 1_000_000)
    }

    private static func instant(_ value: JSONValue) -> Timestamp? {
        guard let object = value.object, object.count == 2, let seconds = object["seconds"].flatMap(integer),
            let nanoseconds = object["nanoseconds"].flatMap(integer), nanoseconds.magnitude < 1_000_000_000
        else { return nil }
        // Both parts have one sign in the file; a positive fraction of a time before 1970 is moved over.
        if seconds < 0, nanoseconds > 0 { return Timestamp(seconds: seconds + 1, nanoseconds: Int32(nanoseconds) - 1_000_000_000) }
        if seconds > 0, nanoseconds < 0 { return Timestamp(seconds: seconds - 1, nanoseconds: Int32(nanoseconds) + 1_000_000_000) }
        return Timestamp(seconds: seconds, nanoseconds: Int32(nanoseconds))
    }
}
