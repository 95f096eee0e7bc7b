// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmCalls
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Statements of SQL that read the classes of a realm as tables.
enum SQLEndpoints {
    /// Answers `GET`, `QUERY` and `POST …/sql`.
    ///
    /// A statement may take long, so a worker runs it.
    ///
    /// - Parameter call: The call, with the statement in its URL or its body.
    /// - Returns: The rows as one document, or as a stream.
    /// - Throws: The `Problem` of a wrong parameter, or of a statement that cannot be run.
    static func run(_ call: Call) throws(Problem) -> Reply {
        let parameters = try SQLParameters(call)
        let context = try ReadContext(call, snapshot: parameters.snapshot)
        return try Reply.reading(call, isShort: false) { () throws(Problem) in
            try SQLAnswer(parameters, context).response()
        }
    }
}
