// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
internal import RealmBackups
import RealmEngine
internal import RealmFormats
import RealmHTTP
internal import RealmPlatform
internal import RealmStorage

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

    /// The options that are given, by the names of a configuration file.
    var parts: [(part: BackupTarget.Part, value: String)] {
        [(.endpoint, backupEndpoint), (.region, backupRegion), (.credentials, backupCredentials)].compactMap { part, value in
            value.map { (part, $0) }
        }
    }

    private func target(_ place: String) -> BackupTarget {
        var target = BackupTarget(place)
        (target.endpoint, target.region, target.credentials) = (backupEndpoint, backupRegion, backupCredentials)
        return target
    }

    /// Checks a target together with these options, without reading files or the environment.
    ///
    /// - Parameter place: The path of a folder, or the URL of a bucket.
    /// - Throws: `ValidationError` that names the wrong option.
    func check(_ place: String) throws {
        do throws(BackupTarget.Rejection) { try target(place).check() } catch { throw BackupTargetOptions.error(error) }
    }

    /// Returns the store of a target.
    ///
    /// - Parameter place: The path of a folder, or the URL of a bucket.
    /// - Throws: `ValidationError` that names the wrong option.
    func store(_ place: String) throws -> any BackupStore {
        do throws(BackupTarget.Rejection) {
            return try target(place).store { name in unsafe getenv(name).map { unsafe String(cString: $0) } }
        } catch {
            throw BackupTargetOptions.error(error)
        }
    }

    /// Converts a rejection into an error of the command line.
    private static func error(_ rejection: BackupTarget.Rejection) -> ValidationError {
        ValidationError(rejection.part == .to ? rejection.text : "--backup-\(rejection.part.rawValue): \(rejection.text)")
    }
}
