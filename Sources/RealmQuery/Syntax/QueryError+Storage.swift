// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Runs a closure that may throw a storage error, and rethrows that error as a query error.
///
/// It is the only bridge between the typed errors of the two layers. A read that was stopped
/// because its time expired, because it was cancelled, or because it is handed over to another
/// thread becomes `QueryError.cancelled`; every other storage error becomes `QueryError.storage`.
///
/// - Parameter body: The reads of the storage layer.
/// - Returns: The result of `body`.
/// - Throws: `QueryError.cancelled` or `QueryError.storage`.
func storage<Result>(_ body: () throws(StorageError) -> Result) throws(QueryError) -> Result {
    do throws(StorageError) {
        return try body()
    } catch {
        throw QueryError(storage: error)
    }
}

extension QueryError {
    /// Makes the query error for an error of the storage layer.
    init(storage error: StorageError) {
        switch error {
        case .stopped(.expired), .stopped(.cancelled), .stopped(.handOver): self = .cancelled
        default: self = .storage(error)
        }
    }
}
