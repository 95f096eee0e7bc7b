// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform
package import RealmQuery

/// The reasons for which a target cannot be observed, or cannot be observed any longer.
package enum ObservationError: Error, Sendable {
    /// The class, object or property does not exist.
    case notFound
    /// A value cannot be the key of a section; the detail is a text for the client.
    case invalidSection(detail: String)
    /// The query does not fit the schema, or was not evaluated in time.
    case query(QueryError)
    /// The file could not be read.
    case storage(StorageError)
    /// The observed definitions of the process take as many bytes as they may.
    case noRoom(limit: Int)
    /// Properties or classes were changed or removed before the observation began, so the target has to be made anew.
    case outdated
    /// The database is closed, or the attachment has ended.
    case closed
}
