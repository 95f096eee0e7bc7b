// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmQuery
internal import RealmStorage

/// Where in a request the input stands that a write was made from.
struct InputPlace: Sendable {
    /// A JSON Pointer from the root of the body.
    var pointer = ""
    /// The index in a batch.
    var operation: Int?
    /// The line of NDJSON or CSV, from 1.
    var line: Int?

    /// The place of something further inside, along `path`.
    func inside(_ path: InputPath) -> InputPlace {
        InputPlace(pointer: pointer + path.description, operation: operation, line: line)
    }

    /// The place of a member of the object here.
    func inside(_ name: String) -> InputPlace { inside(InputPath([.name(name)])) }
    /// The place of an element of the array here.
    func inside(_ index: Int) -> InputPlace { inside(InputPath([.index(index)])) }

    /// The problem with the members that tell this place.
    func describe(_ problem: Problem, hasPointer: Bool = true) -> Problem {
        var problem = problem
        if hasPointer, !problem.has("pointer") { problem = problem.with("pointer", pointer) }
        if let operation, !problem.has("op") { problem = problem.with("op", .integer(Int64(operation))) }
        if let line, !problem.has("line") { problem = problem.with("line", .integer(Int64(line))) }
        return problem
    }
}
