// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
internal import RealmPlatform
internal import RealmStorage

/// The options of the command `serve` about commits that are shipped while the server runs.
struct ShipOptions: ParsableArguments {
    /// The path of a folder, or the URL of a bucket; nil when nothing is shipped.
    @Option(
        help: ArgumentHelp(
            "Ship every commit to a folder or to s3://BUCKET/PREFIX, from which any version can be had again; writes do not wait "
                + "for it.", valueName: "FOLDER|s3://…"))
    var ship: String?

    /// The interval of checks for waiting commits; nil for a quarter of a second.
    @Option(help: ArgumentHelp("The interval at which commits are shipped; 250ms without it.", valueName: "TIME"))
    var shipEvery: String?

    /// The retention of bases, as `BackupRetention` reads it; nil for all.
    @Option(
        help: ArgumentHelp(
            "Keep the newest base of each of so many hours, days, weeks and months, with the commits after it; without it all "
                + "are.", valueName: "hourly=24,daily=7,weekly=4,monthly=12"))
    var shipKeep: String?

    /// The address of the server of a bucket; nil for that of Amazon.
    @Option(help: ArgumentHelp("As --backup-endpoint, for --ship.", valueName: "URL"))
    var shipEndpoint: String?

    /// The region of a bucket; nil for that of the environment.
    @Option(help: ArgumentHelp("As --backup-region, for --ship.", valueName: "NAME"))
    var shipRegion: String?

    /// The path of a file with credentials; nil for those of the environment.
    @Option(help: ArgumentHelp("As --backup-credentials, for --ship.", valueName: "FILE"))
    var shipCredentials: String?

    var settings: [(String, String)] {
        [
            ("ship", ship), ("ship-every", shipEvery), ("ship-keep", shipKeep), ("ship-endpoint", shipEndpoint),
            ("ship-region", shipRegion), ("ship-credentials", shipCredentials),
        ].compactMap { name, value in value.map { (name, $0) } }
    }
}
