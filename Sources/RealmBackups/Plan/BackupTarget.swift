// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The place of backups, as the command line and a configuration file state it: a folder, or a bucket of S3 and its connection.
package struct BackupTarget: Sendable, Equatable {
    /// The members of a target. The raw values are the names in a configuration file.
    package enum Part: String, Sendable {
        /// The folder or the bucket.
        case to
        /// The server.
        case endpoint
        case region
        /// The file with credentials.
        case credentials
    }

    /// The reason why a target cannot be used.
    package struct Rejection: Error {
        /// The member that is wrong.
        package let part: Part
        /// The error, as a sentence without a final period.
        package let text: String
    }

    /// The path of a folder, or `s3://bucket/prefix`.
    package let place: String
    /// The address of the server; nil for that of Amazon in the region.
    package var endpoint: String?
    /// The name of the region; nil for that of the environment.
    package var region: String?
    /// The path of a file with credentials; nil for those of the environment.
    package var credentials: String?

    /// Makes a target without options.
    ///
    /// - Parameter place: The path of a folder, or `s3://bucket/prefix`.
    package init(_ place: String) { self.place = place }

    /// Returns whether a text is a URL, and no path of a folder.
    package static func isURL(_ place: String) -> Bool { place.contains("://") }

    /// Makes the checks that need neither a file nor the environment.
    ///
    /// - Returns: The bucket; nil for a folder.
    /// - Throws: The first thing that is wrong.
    @discardableResult
    package func check() throws(Rejection) -> S3Location? {
        guard place.hasPrefix(S3Location.scheme) else {
            guard !BackupTarget.isURL(place) else {
                throw Rejection(part: .to, text: "expected the path of a folder or \(S3Location.scheme)BUCKET/PREFIX")
            }
            for (part, value) in [(Part.endpoint, endpoint), (.region, region), (.credentials, credentials)] where value != nil {
                throw Rejection(part: part, text: "only a target \(S3Location.scheme)BUCKET/PREFIX takes this")
            }
            return nil
        }
        guard let location = S3Location(place) else { throw Rejection(part: .to, text: "'\(place)' is not \(S3Location.rule)") }
        guard endpoint.map({ S3Endpoint($0) }) != .some(nil) else {
            throw Rejection(part: .endpoint, text: "expected \(S3Endpoint.rule)")
        }
        guard region.map(S3Endpoint.isRegion) != false else { throw Rejection(part: .region, text: BackupTarget.regionRule) }
        return location
    }

    /// Makes the store. The credentials are read once, so that a mistake is found at once.
    ///
    /// - Parameter environment: Returns the value of a variable of the environment; nil when it is not set.
    /// - Throws: The first thing that is wrong. The text has nothing of the credentials.
    package func store(_ environment: (String) -> String?) throws(Rejection) -> any BackupStore {
        guard let location = try check() else { return FolderBackupStore(place) }
        let stated = ["AWS_REGION", "AWS_DEFAULT_REGION"].lazy.compactMap(environment).first { !$0.isEmpty }
        let region = region ?? stated ?? "us-east-1"
        guard S3Endpoint.isRegion(region) else {
            throw Rejection(part: .region, text: "\(BackupTarget.regionRule); AWS_REGION is not a valid region")
        }
        return S3BackupStore(
            S3BackupStore.Options(
                location, endpoint.flatMap { S3Endpoint($0) }, region: region, try credentialsSource(environment)))
    }

    /// The rule for a region, for messages.
    private static let regionRule = "expected a name such as us-east-1"

    /// Returns where the credentials are, after they were read once.
    private func credentialsSource(_ environment: (String) -> String?) throws(Rejection) -> S3Credentials.Source {
        guard let credentials else {
            if let credentials = S3Credentials(environment) { return .fixed(credentials) }
            throw Rejection(
                part: .credentials,
                text: "expected a file, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment")
        }
        let source = S3Credentials.Source.file(credentials)
        do throws(StorageError) {
            _ = try source.current()
        } catch {
            throw Rejection(part: .credentials, text: "the credentials in '\(credentials)' cannot be used: \(error)")
        }
        return source
    }
}
