// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
internal import RealmCalls
import RealmEngine
internal import RealmFormats
import RealmHTTP
internal import RealmPlatform
import RealmStorage

/// The command `realm-rest import`: reads NDJSON into a file that no other program has open.
struct ImportCommand: ParsableCommand {
    /// The name of the command and its description for `--help`.
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Imports objects into a Realm file, which is created if it does not exist.",
        discussion: """
            The data are an export (realm-rest export, or GET …/export), plain or packed with gzip, or lines of objects \
            of one class. Everything is read in one transaction, or nothing.
            """)

    /// The path of the NDJSON data, plain or compressed with gzip.
    @Argument(help: "A file of NDJSON.")
    var data: String

    /// The path of the realm's file, which is made if it does not exist.
    @Argument(help: "A .realm file.")
    var file: String

    /// The class of objects that do not state theirs; nil if all do.
    @Option(name: .customLong("class"), help: "The class of objects that do not state theirs.")
    var className: String?

    /// Whether existing objects are written instead of being an error.
    @Flag(help: "Update existing objects instead of rejecting them.")
    var upsert = false

    /// The path of a file with the encryption key; nil for a plain file.
    @Option(help: "A file with the encryption key: 128 hex digits, or base64 of 64 bytes.")
    var keyFile: String?

    /// Imports the data as a unit, and prints the numbers of objects.
    func run() throws {
        try reporting {
            let counts = try DataImport.run(
                data, into: file, key: try keyFile.map { try EncryptionKey(contentsOfFile: $0) }, className: className,
                mode: upsert ? .upsert : .create)
            try StandardStreams.output("created \(counts.created), updated \(counts.updated)\n")
        }
    }
}
