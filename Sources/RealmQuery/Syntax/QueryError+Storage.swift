// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Runs what may throw a storage error and hands it on as a query error.
func storage<Result>(_ body: () throws(StorageError) -> Result) throws(QueryError) -> Result {
    do throws(StorageError) {
        return try body()
    } catch {
        switch error {
        case .stopped(.expired), .stopped(.cancelled), .stopped(.handOver): throw .cancelled
        default: throw .storage(error)
        }
    }
}
