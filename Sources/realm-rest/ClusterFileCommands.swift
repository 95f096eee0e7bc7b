// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import RealmEngine
internal import RealmPlatform
import RealmReplica
import RealmStorage
internal import RealmVerify

/// The command `realm-rest cluster restore`.
struct ClusterRestoreCommand: ParsableCommand {
    /// The name of the command and its description for `--help`.
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Makes the file of an earlier version of a realm from the log.",
        discussion: """
            The cluster is not changed. `POST /v1/realms/{realm}/restore` with the file makes it the newest version. \
            `realm-rest cluster status REALM` shows the oldest base, from which versions can be made.
            """)

    /// The address of the log.
    @OptionGroup var place: ClusterPlace

    @OptionGroup var bases: BaseStoreOptions

    @Argument(help: "The name of the realm.")
    var realm: String

    /// The path of the file.
    @Argument(help: "The file to make; there must be none yet.")
    var file: String

    /// The path of a file with the encryption key; nil for a realm that is not encrypted.
    @Option(help: "A file with the encryption key of the realm: 128 hex digits, or base64 of 64 bytes.")
    var keyFile: String?

    /// The version; nil for the newest.
    @Option(help: ArgumentHelp("The number of the version; without it the newest.", valueName: "VERSION"))
    var at: UInt64?

    func run() throws {
        let log = try place.log(bases)
        defer { log.close() }
        let version = try atCluster { () throws(StorageError) in
            let key = try realmKey(inFile: keyFile)
            let head = try LogReplay.head(of: realm, in: log)
            let version = at ?? head.version
            let made = try LogReplay(realm, path: file, log: log, key: key).restore(version, of: head)
            try made.publish(as: file)
            return version
        }
        print("\(file) has version \(version) of '\(realm)'")
    }
}

/// The command `realm-rest cluster verify`.
struct ClusterVerifyCommand: ParsableCommand {
    /// The name of the command and its description for `--help`.
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Makes the newest version of a realm from the log, and verifies it.",
        discussion: "The file goes to the folder for temporary files, and is deleted.")

    /// The address of the log.
    @OptionGroup var place: ClusterPlace

    @OptionGroup var bases: BaseStoreOptions

    @Argument(help: "The name of the realm.")
    var realm: String

    /// The path of a file with the encryption key; nil for a realm that is not encrypted.
    @Option(help: "A file with the encryption key of the realm: 128 hex digits, or base64 of 64 bytes.")
    var keyFile: String?

    /// Verifies the content of the log.
    func run() throws {
        let log = try place.log(bases)
        defer { log.close() }
        let (head, report) = try atCluster { () throws(StorageError) in
            let key = try realmKey(inFile: keyFile)
            let head = try LogReplay.head(of: realm, in: log)
            let made = try LogReplay(realm, path: System.temporaryFolder + "/realm-rest", log: log, key: key)
                .restore(head.version, of: head)
            return (head, try Snapshot(file: try RealmFile(path: made.openPath, key: key)).verify())
        }
        for error in report.errors { StandardStreams.error(error) }
        guard report.isClean else { throw ExitCode(1) }
        print("the log of '\(realm)' leads to version \(head.version), which is sound")
    }
}

/// Reads the key of a realm from a file; nil when none is named.
private func realmKey(inFile path: String?) throws(StorageError) -> EncryptionKey? {
    guard let path else { return nil }
    return try EncryptionKey(contentsOfFile: path)
}
