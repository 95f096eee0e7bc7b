// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The names that the expressions of a migration step may begin with. They are known when the step begins,
/// so that a wrong name is an error even if the step has no object to work on.
struct MigrationScope {
    /// The names of objects and elements: the variables of loops and what was created under a name.
    private(set) var variables: Set<ByteText>
    /// Whether a key path may also begin with a property, that of the object which the step changes.
    let hasSubject: Bool
    /// The word in a key path that leads to the same object as it was before the migration.
    static let past = "$old"
    /// The maximum length of the name of a variable in bytes.
    private static let maximumNameByteCount = 64

    /// Makes the scope of a step.
    ///
    /// - Parameters:
    ///   - variables: The names that are known at its beginning.
    ///   - hasSubject: Whether the step changes one object after the other, whose properties are known too.
    init(variables: Set<ByteText> = [], hasSubject: Bool) {
        self.variables = variables
        self.hasSubject = hasSubject
    }

    /// Returns the scope with one more variable.
    ///
    /// - Parameter name: The name; nil leaves the scope as it is.
    /// - Throws: `WriteError` with the code `invalidSchema` for a name that expressions cannot have, or
    ///   that is already known.
    func adding(_ name: String?) throws(WriteError) -> MigrationScope {
        guard let name else { return self }
        let isWord = name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
                return true
            default: return false
            }
        }
        guard isWord, let first = name.utf8.first, !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first),
            name.utf8.count <= MigrationScope.maximumNameByteCount
        else {
            throw WriteError(
                .invalidSchema,
                "a variable has 1 to \(MigrationScope.maximumNameByteCount) ASCII letters, digits and '_', no digit first")
        }
        guard case .path = try Expression.parse(name) else { throw WriteError(.invalidSchema, "'\(name)' is a literal") }
        guard !variables.contains(name) else { throw WriteError(.invalidSchema, "there is already a variable '\(name)'") }
        var inner = self
        inner.variables.insert(name)
        return inner
    }

    /// Throws `invalidSchema` unless there is a variable of this name.
    func require(_ name: String) throws(WriteError) {
        guard !variables.contains(name) else { return }
        let known = variables.sorted().map { "'\($0)'" }.joined(separator: ", ")
        throw WriteError(.invalidSchema, "there is no variable '\(name)'; known are: \(known.isEmpty ? "none" : known)")
    }

    /// Parses an expression, and checks the first name of each of its key paths.
    ///
    /// - Throws: `WriteError` with the code `invalidSchema` for a text that is no expression, and for a key
    ///   path that begins with an unknown name.
    func expression(_ text: String) throws(WriteError) -> Expression {
        let expression = try Expression.parse(text)
        if !hasSubject { for path in expression.paths { try require(path.firstName ?? path.text) } }
        return expression
    }

    /// Parses a text that has to be a key path alone.
    ///
    /// - Throws: `WriteError` with the code `invalidSchema` for any other text.
    func path(_ text: String) throws(WriteError) -> ExpressionPath {
        guard case .path(let path) = try expression(text) else {
            throw WriteError(.invalidSchema, "expected a key path, not a calculation")
        }
        return path
    }
}
