// SPDX-License-Identifier: Apache-2.0

package import RealmEngine
package import RealmFormats
internal import RealmPlatform
package import RealmQuery
package import RealmStorage

/// Turns the elements of `args` into query arguments: plain JSON, Extended JSON wrappers, lists and shapes.
///
/// A string stays a string: when the query is bound, the type of the other operand decides how it is parsed.
///
/// Arguments are kept apart from the text of a query, so they need no quoting. They are decoded against a snapshot, because a
/// link among them is looked up there.
package struct ArgumentDecoder {
    /// The state of the realm in which links are looked up.
    private let snapshot: Snapshot

    /// Creates a decoder for the objects of a snapshot.
    package init(_ snapshot: Snapshot) { self.snapshot = snapshot }

    /// Decodes all arguments of a query.
    ///
    /// - Parameter args: The elements of the JSON array, for `$0`, `$1` and so on.
    /// - Returns: The arguments in the same order. A link to an object that does not exist, or is hidden, equals nothing.
    /// - Throws: `invalid_parameter`, `invalid_query` for an unreadable shape, `unknown_key_path`
    ///   for an unknown class in a link; each with a `pointer` to the argument, such as `/args/0`.
    package func decode(_ args: [JSONValue]) throws(Problem) -> [QueryArgument] {
        var arguments: [QueryArgument] = []
        for (index, value) in args.enumerated() { arguments.append(try decode(value, at: "/args/\(index)")) }
        return arguments
    }

    /// Decodes one argument, or one element of a list among them.
    private func decode(_ value: JSONValue, at pointer: String) throws(Problem) -> QueryArgument {
        switch value {
        case .null: return .null
        case .bool(let flag): return .bool(flag)
        case .integer(let number): return .int(number)
        case .real(let number): return .double(number)
        case .string(let text): return .text(text)
        case .longInteger, .longReal: throw invalid("the number is out of range; use a wrapper such as $numberDecimal", pointer)
        case .array(let elements):
            var list: [QueryArgument] = []
            for (index, element) in elements.enumerated() { list.append(try decode(element, at: "\(pointer)/\(index)")) }
            return .list(list)
        case .object(let object): return try wrapper(object, pointer)
        }
    }

    /// Makes the `invalid_parameter` problem of an argument, with a pointer to it.
    private func invalid(_ detail: String, _ pointer: String) -> Problem {
        Problem.invalidParameter("args", detail).with("pointer", pointer)
    }

    // MARK: - Wrappers

    /// Decodes an object, which has to be a wrapper with one member, such as `{"$oid":"…"}`.
    private func wrapper(_ object: JSONObject, _ pointer: String) throws(Problem) -> QueryArgument {
        guard let (name, value) = object.single else {
            throw invalid("an object among the arguments must be a wrapper with one member", pointer)
        }
        switch name {
        case "$link": return try link(value, pointer)
        case "$geoBox", "$geoCircle", "$geoPolygon", "$geoPoint":
            // The code is the same as for a shape that can be read but makes no sense.
            guard let shape = ShapeDecoder.shape(name, value) else {
                throw Problem(.invalidQuery, "the shape '\(name)' cannot be read, expected \(ShapeDecoder.form(name))")
                    .with("parameter", "args").with("pointer", pointer)
            }
            return shape
        default:
            do throws(ExtendedJSON.InputError) {
                if let typed = try ExtendedJSON.value(name, value) { return QueryArgument(typed) }
            } catch {
                throw invalid(error.detail(name), pointer)
            }
            throw invalid("'\(name)' is not a wrapper", pointer)
        }
    }

    /// Returns the object that a link stub names. It is looked up by its primary key when the query is bound; one that
    /// does not exist, or is hidden, equals nothing, not even null.
    ///
    /// - Throws: `unknown_key_path` when the class does not exist.
    private func link(_ value: JSONValue, _ pointer: String) throws(Problem) -> QueryArgument {
        guard let (name, key) = ExtendedJSON.stub(value) else {
            throw invalid(ExtendedJSON.InputError.unreadable.detail("$link"), pointer)
        }
        guard let table = snapshot.classTable(named: name) else {
            throw Problem(.unknownKeyPath, "there is no class '\(name)'").with("parameter", "args").with("pointer", pointer)
        }
        switch KeyText.parse(key, primaryKey: table.primaryKey) {
        case nil: return .link(table.key, .missing)
        case .primaryKey(let value): return .object(className: name, primaryKey: value.use { QueryArgument(copying: $0) })
        case .objectKey(let key):
            let row = try Problem.stored(table.find(key))
            return .link(table.key, row?.key ?? .missing)
        }
    }
}

/// Makes query arguments of Extended JSON wrappers.
extension QueryArgument {
    /// Creates the argument for a value whose type its wrapper stated.
    package init(_ typed: TypedInput) {
        switch typed {
        case .int(let number): self = .int(number)
        case .float(let number): self = .float(number)
        case .double(let number): self = .double(number)
        case .decimal(let number): self = .decimal(number)
        case .timestamp(let date): self = .timestamp(date)
        case .objectID(let id): self = .objectID(id)
        case .uuid(let id): self = .uuid(id)
        case .binary(let bytes): self = .binary(bytes)
        case .stringBytes(let bytes): self = .stringBytes(bytes)
        }
    }
}
