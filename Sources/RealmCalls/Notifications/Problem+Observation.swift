// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmQuery
internal import RealmStorage

/// The problems of observed definitions.
extension Problem {
    /// Makes the problem document that clients get for an error of the observation.
    ///
    /// - Parameter error: The error of the observation hub, such as an observed object that does
    ///   not exist.
    init(observing error: ObservationError) {
        switch error {
        case .notFound: self = Problem(.objectNotFound, "the observed object does not exist anymore")
        case .invalidSection(let detail): self = Problem.invalidParameter("sectionBy", detail)
        case .query(let error): self = Problem(error, parameter: "where")
        case .storage(let error): self = Problem(serving: error)
        case .noRoom(let limit):
            var problem = Problem.overLimit(
                .tooManyStreams, "the observed definitions of all clients take as much memory as the server permits", limit: limit
            ).with("limitName", "observed-bytes")
            problem.retryAfterSeconds = 5
            self = problem
        case .outdated: self = Problem(.objectNotFound, "the schema no longer has the observed class or property")
        case .closed: self = Problem(.realmUnavailable, "the realm is being closed")
        }
    }
}

/// Which errors are a reason to resolve a definition again.
extension ObservationError {
    /// Whether a target may be found when its definition is resolved again, because the schema has changed since it was.
    var mayComeFromOtherSchema: Bool {
        switch self {
        case .notFound, .outdated: return true
        case .query(.cancelled), .query(.storage): return false
        case .query: return true
        case .invalidSection, .storage, .noRoom, .closed: return false
        }
    }
}
