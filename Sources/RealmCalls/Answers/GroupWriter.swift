// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmQuery
internal import RealmStorage

/// Writes the keys of groups and the values of facets: a link as its stub, mixed values with the wrappers of their types.
///
/// It is made for one request and used by one thread.
final class GroupWriter {
    /// The version that is read, and the request.
    private let context: ReadContext
    /// The kind of grouped rows: objects of a class, or values of a collection.
    private let subject: Elements.Subject
    /// Writes links and mixed values, within the budget of the request.
    private let encoder: ObjectEncoder
    private var values: ValueWriter

    /// Creates a writer.
    ///
    /// - Parameters:
    ///   - context: The version that is read, and the request.
    init(_ subject: Elements.Subject, _ context: ReadContext, _ representation: Representation) {
        self.subject = subject
        self.context = context
        encoder = ObjectEncoder(context.snapshot, representation, context.call.request.budget)
        values = ValueWriter(representation)
    }

    /// Notes on values that could not be represented exactly in the groups written so far.
    var notes: RepresentationNotes { encoder.notes.union(values.notes) }

    /// Returns whether the values of a key path are mixed. They are written with the wrappers of their types then.
    func isMixed(_ path: String) -> Bool {
        switch subject {
        case .values(let column, _, _): return column.type == .mixed
        case .objects(let table):
            let mapping = context.database.backlinkNames.mapping
            let resolved = try? KeyPath.resolve(path, from: table, in: context.snapshot, mapping: mapping)
            return resolved?.property?.type == .mixed
        }
    }

    /// Reads an entry of `groupBy` or `facets`: a key path, or `path:function`. A property of that name comes first.
    ///
    /// - Throws: `invalid_parameter` for an unknown function.
    func key(_ text: String, of parameter: String) throws(Problem) -> GroupRequest.Key {
        guard let colon = text.lastIndex(of: ":"), !hasProperty(text) else { return GroupRequest.Key(text) }
        if let (path, function) = ValueFunction.split(text), !path.isEmpty { return GroupRequest.Key(path, function) }
        let name = String(text[text.index(after: colon)...])
        let hint = Suggestion.hint(for: String(name.prefix { $0 != "(" }), in: ValueFunction.names)
        throw .invalidParameter(parameter, "'\(name.truncated)' is not one of \(ValueFunction.list)\(hint)")
    }

    /// Whether the grouped objects have a property of a name.
    private func hasProperty(_ name: String) -> Bool {
        guard case .objects(let table) = subject else { return false }
        return table.column(named: name) != nil
    }

    /// Writes one value.
    ///
    /// - Parameters:
    ///   - value: A value that rows of the result have.
    ///   - isMixed: Whether its key path leads to mixed values.
    ///   - writer: The writer of the response.
    func write(_ value: Value, isMixed: Bool, to writer: inout JSONWriter) throws(StorageError) {
        if case .link(let table, let key) = value { return try encoder.writeStub(table, key, &writer) }
        if isMixed { return try encoder.writeMixed(value, &writer) }
        values.write(value, to: &writer)
        try context.call.request.budget.requireRoom(for: writer.count)
    }
}
