// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
internal import RealmPlatform
import RealmStorage

/// The command `realm-rest compact`: replaces a file that no program has open by one without free space.
struct CompactCommand: ParsableCommand {
    /// The name of the command and its description for `--help`.
    static let configuration = CommandConfiguration(
        commandName: "compact", abstract: "Replaces a Realm file that no program has open by one without free space.")

    /// The path of the file.
    @Argument(help: "A .realm file of format 24.")
    var file: String

    /// The path of a file with the encryption key; nil for a plain file.
    @Option(help: "A file with the encryption key: 128 hex digits, or base64 of 64 bytes.")
    var keyFile: String?

    /// Replaces the file, and prints its sizes. A crash leaves the old file or the new one.
    ///
    /// - Throws: `ExitCode(2)` after a message when the file is open elsewhere or cannot be opened, and
    ///   `ExitCode(1)` when it is damaged.
    func run() throws {
        try reporting {
            let key = try keyFile.map { try EncryptionKey(contentsOfFile: $0) }
            let sizes = try FileStore.rewrite(path: file, key: key, newKey: key)
            try StandardStreams.output("before \(sizes.before), after \(sizes.after)\n")
        }
    }
}
