// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
internal import RealmBackups
internal import RealmFormats
import RealmHTTP
internal import RealmHosting
internal import RealmPlatform
import RealmReplica
internal import RealmStorage

/// The options about the bases of a cluster, which `serve` and the commands of `cluster` share.
struct BaseStoreOptions: ParsableArguments {
    /// Their place; nil for the log.
    @Option(
        help: ArgumentHelp(
            "The store of the bases of realms, which are whole files: the log (postgres), or a bucket. Bases elsewhere are "
                + "still found.",
            valueName: "postgres|s3://…"))
    var bases: String?

    /// The address of the server; nil for that of Amazon.
    @Option(help: ArgumentHelp("As --backup-endpoint, for --bases.", valueName: "URL"))
    var basesEndpoint: String?

    /// The name of the region; nil for that of the environment.
    @Option(help: ArgumentHelp("As --backup-region, for --bases.", valueName: "NAME"))
    var basesRegion: String?

    /// The path of a file with credentials; nil for those of the environment.
    @Option(help: ArgumentHelp("As --backup-credentials, for --bases.", valueName: "FILE"))
    var basesCredentials: String?

    var settings: [(String, String)] {
        [
            ("bases", bases), ("bases-endpoint", basesEndpoint), ("bases-region", basesRegion),
            ("bases-credentials", basesCredentials),
        ].compactMap { name, value in value.map { (name, $0) } }
    }

    /// Makes the store of the bases; nil for the log itself.
    ///
    /// - Throws: `ValidationError` that names the wrong option.
    func files() throws -> (any BaseFiles)? {
        var place = BaseStoreTarget()
        if let bases {
            guard let target = BaseStoreTarget.target(bases) else { throw ValidationError("--bases: \(BaseStoreTarget.rule)") }
            place.target = target
        }
        (place.endpoint, place.region, place.credentials) = (basesEndpoint, basesRegion, basesCredentials)
        do throws(BackupTarget.Rejection) {
            return try place.files { name in unsafe getenv(name).map { unsafe String(cString: $0) } }
        } catch {
            throw ValidationError(
                error.part == .to ? "--bases: \(error.text)" : "--bases-\(error.part.rawValue): \(error.text)")
        }
    }
}
