// SPDX-License-Identifier: Apache-2.0

package import RealmBackups
internal import RealmEngine
internal import RealmFormats
package import RealmPlatform
package import RealmReplica
internal import RealmStorage

/// The place of the bases of a cluster: its log, or a bucket of S3.
package struct BaseStoreTarget: Sendable, Equatable {
    /// The bucket; nil for the log.
    package var target: BackupTarget?
    /// The connection to the bucket.
    package var endpoint: String?, region: String?, credentials: String?

    /// The word for the log.
    package static let log = "postgres"

    /// Makes the usual place, which is the log.
    package init() {}

    /// Reads a place.
    ///
    /// - Parameter text: `postgres`, or `s3://bucket/prefix`.
    /// - Returns: Nil for anything else.
    package static func target(_ text: String) -> BackupTarget?? {
        if text == log { return .some(nil) }
        return S3Location(text) == nil ? nil : .some(BackupTarget(text))
    }

    /// The rule for the text.
    package static let rule = "expected '\(log)' or \(S3Location.scheme)BUCKET/PREFIX"

    /// Makes the store of the bases; nil for the log itself.
    ///
    /// - Parameter environment: Returns the value of a variable of the environment; nil when it is not set.
    /// - Throws: The first thing that is wrong.
    package func files(_ environment: (String) -> String?) throws(BackupTarget.Rejection) -> (any BaseFiles)? {
        guard var target else { return nil }
        (target.endpoint, target.region, target.credentials) = (endpoint, region, credentials)
        return try target.store(environment) as? S3BackupStore
    }
}

/// The bases of a cluster in a bucket: `prefix/app/k3f9abcd-18-5f0c….base`.
extension S3BackupStore: BaseFiles {
    /// Stores a file, as the protocol says.
    package func put(_ name: String, from descriptor: Int32, digest: [UInt8]) throws(StorageError) {
        try upload(descriptor, as: options.location.key(name), digest: FileDigest.hex(digest), try S3Client(options))
    }

    /// Copies the bytes of a file, as the protocol says.
    package func fetch(_ name: String, byteCount: Int, into descriptor: Int32) throws(StorageError) {
        try get(options.location.key(name), byteCount: byteCount, into: descriptor)
    }

    /// Deletes a file, as the protocol says.
    package func remove(_ name: String) throws(StorageError) { try delete(options.location.key(name)) }
}
