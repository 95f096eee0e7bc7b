// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import RealmEngine
import RealmHTTP
import RealmStorage

/// `realm-rest import`: reads NDJSON into a file that nobody else has open.
struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Reads objects into a Realm file, which is made if it is not there.",
        discussion: """
            The data are an export (realm-rest export, or GET …/export), plain or packed with gzip, or lines of objects \
            of one class. Everything is read in one transaction, or nothing.
            """)

    @Argument(help: "A file of NDJSON.")
    var data: String

    @Argument(help: "A .realm file.")
    var file: String

    @Option(name: .customLong("class"), help: "The class of objects that do not tell theirs.")
    var className: String?

    @Flag(help: "Write into objects that are there.")
    var upsert = false

    @Option(help: "A file with the encryption key: 128 hex digits, or base64 of 64 bytes.")
    var keyFile: String?

    func run() throws {
        try reporting {
            let counts = try DataImport.run(
                data, into: file, key: try keyFile.map { try EncryptionKey(contentsOfFile: $0) }, className: className,
                mode: upsert ? .upsert : .create)
            try StandardStreams.output("created \(counts.created), updated \(counts.updated)\n")
        }
    }
}
