// SPDX-License-Identifier: Apache-2.0

package import RealmEngine
internal import RealmPlatform
internal import RealmQuery
internal import RealmStorage

/// The place of an input in a request, for the extension members of a problem.
///
/// Readers and writers pass it inwards and extend it with each member and element, so that an error can name its exact place.
package struct InputPlace: Sendable {
    /// A JSON Pointer (RFC 6901) from the root of the body; empty for the root itself.
    package var pointer: String
    /// The index of the operation in a batch, from 0; nil outside a batch. It becomes the member `op`.
    var operation: Int?
    /// The line of NDJSON or CSV, from 1; nil for other bodies. It becomes the member `line`.
    var line: Int?

    /// Makes the place of an input; by default the root of a body.
    package init(pointer: String = "", operation: Int? = nil, line: Int? = nil) {
        self.pointer = pointer
        self.operation = operation
        self.line = line
    }

    /// Returns the place of an inner value, along a path.
    package func inside(_ path: InputPath) -> InputPlace {
        InputPlace(pointer: pointer + path.description, operation: operation, line: line)
    }

    /// Returns the place of a member of the object at this place.
    package func inside(_ name: String) -> InputPlace { inside(InputPath([.name(name)])) }
    /// Returns the place of an element of the array at this place.
    package func inside(_ index: Int) -> InputPlace { inside(InputPath([.index(index)])) }

    /// Returns the problem with the members that name this place. Members that it has already are kept, because they come from an
    /// inner place.
    ///
    /// - Parameters:
    ///   - problem: The problem to complete.
    ///   - hasPointer: Whether the problem is about the body, and gets a `pointer`.
    package func describe(_ problem: Problem, hasPointer: Bool = true) -> Problem {
        var problem = problem
        if hasPointer, !problem.has("pointer") { problem = problem.with("pointer", pointer) }
        if let operation, !problem.has("op") { problem = problem.with("op", .integer(Int64(operation))) }
        if let line, !problem.has("line") { problem = problem.with("line", .integer(Int64(line))) }
        return problem
    }
}
