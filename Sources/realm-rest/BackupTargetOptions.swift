// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import RealmEngine
import RealmHTTP
import RealmStorage

/// The options about a store of backups in S3, which `serve`, `backup` and `restore` share.
struct BackupTargetOptions: ParsableArguments {
    /// The address of the server; nil for that of Amazon.
    @Option(
        help: ArgumentHelp(
            "The server of an s3:// target, such as http://127.0.0.1:9000; without it that of Amazon in the region.",
            valueName: "URL"))
    var backupEndpoint: String?

    /// The name of the region; nil for that of the environment.
    @Option(
        help: ArgumentHelp(
            "The region of an s3:// target; without it AWS_REGION, AWS_DEFAULT_REGION or us-east-1.", valueName: "NAME"))
    var backupRegion: String?

    /// The path of a file with credentials; nil for those of the environment.
    @Option(
        help: ArgumentHelp(
            "A file with aws_access_key_id and aws_secret_access_key; without it AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and "
                + "AWS_SESSION_TOKEN of the environment.", valueName: "FILE"))
    var backupCredentials: String?

    /// Checks the values of the options; ArgumentParser calls it before `run`.
    func validate() throws {
        guard backupEndpoint.map({ S3Endpoint($0) }) != .some(nil) else {
            throw ValidationError("--backup-endpoint takes \(S3Endpoint.rule)")
        }
        guard backupRegion.map(S3Endpoint.isRegion) != false else {
            throw ValidationError("--backup-region takes a name such as us-east-1")
        }
    }

    /// Checks a target together with these options.
    ///
    /// - Parameter target: The path of a folder, or the URL of a bucket; nil for none.
    /// - Throws: `ValidationError` for a URL of another kind, and for options without an `s3://` target.
    func check(_ target: String?) throws {
        if let target, target.hasPrefix(S3Location.scheme) {
            guard S3Location(target) != nil else { throw ValidationError("'\(target)' is not \(S3Location.rule)") }
        } else {
            guard target?.contains("://") != true else {
                throw ValidationError("backups go to the path of a folder, or to \(S3Location.scheme)BUCKET/PREFIX")
            }
            guard backupEndpoint == nil, backupRegion == nil, backupCredentials == nil else {
                throw ValidationError("--backup-endpoint, --backup-region and --backup-credentials need an s3:// target")
            }
        }
    }

    /// Returns the store of a target that was checked.
    ///
    /// - Parameter target: The path of a folder, or the URL of a bucket.
    /// - Throws: `ValidationError` without credentials, and `StorageError` when their file cannot be used.
    func store(_ target: String) throws -> any BackupStore {
        guard let location = S3Location(target) else { return FolderBackupStore(target) }
        let names = ["AWS_REGION", "AWS_DEFAULT_REGION"]
        let region = backupRegion ?? names.lazy.compactMap(BackupTargetOptions.environment).first ?? "us-east-1"
        guard S3Endpoint.isRegion(region) else { throw ValidationError("AWS_REGION takes a name such as us-east-1") }
        return S3BackupStore(
            S3BackupStore.Options(location, backupEndpoint.flatMap { S3Endpoint($0) }, region: region, try credentials()))
    }

    /// Returns where the credentials are, after they were read once.
    private func credentials() throws -> S3Credentials.Source {
        if let backupCredentials {
            let source = S3Credentials.Source.file(backupCredentials)
            _ = try source.current()
            return source
        }
        guard let credentials = S3Credentials(BackupTargetOptions.environment) else {
            throw ValidationError(
                "an s3:// target needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or --backup-credentials FILE")
        }
        return .fixed(credentials)
    }

    /// Returns the value of a variable of the environment; nil when it is not set or empty.
    private static func environment(_ name: String) -> String? {
        unsafe getenv(name).map { unsafe String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }
}
