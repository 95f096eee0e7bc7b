// SPDX-License-Identifier: Apache-2.0

package import RealmQuery
package import RealmStorage

/// Why something cannot be observed, or not any more.
package enum ObservationError: Error, Sendable {
    /// The class, object or property is not there.
    case notFound
    /// A value that the sections come from cannot be the key of one; why, in words for the client.
    case invalidSection(detail: String)
    /// The query does not fit the schema, or could not be evaluated in time.
    case query(QueryError)
    /// The file could not be read.
    case storage(StorageError)
    /// The database is closed.
    case closed
}
