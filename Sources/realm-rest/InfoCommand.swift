// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import RealmEngine
internal import RealmFormats
import RealmHTTP
internal import RealmHosting
internal import RealmPlatform
import RealmStorage

/// The command `realm-rest info`: describes a file.
struct InfoCommand: ParsableCommand {
    /// The name of the command and its description for `--help`.
    static let configuration = CommandConfiguration(
        commandName: "info", abstract: "Describes a file: format, SDKs, encryption, classes, and what serving it does.",
        discussion: """
            Takes a moment for files of any size. Without the key it reports what needs none. The effect of serving is stated for \
            a server without options. Exit status 0: the file can be read; 1: it is damaged; 2: it cannot be opened, with the reason in the output.
            """)

    /// The file and its key.
    @OptionGroup var options: FileOptions

    /// Whether the facts are printed as JSON.
    @Flag(help: "Print JSON instead of lines.")
    var json = false

    /// Prints the known facts about the file.
    ///
    /// - Throws: `ExitCode(1)` for a damaged file, `ExitCode(2)` for one that cannot be opened.
    func run() throws {
        try reporting {
            let key = try options.keyFile.map { try EncryptionKey(contentsOfFile: $0) }
            let file = try FileInspection(path: options.file, key: key)
            try StandardStreams.output(json ? InfoCommand.json(file) : Array(InfoText(file, name: options.file).text.utf8))
            switch file.failure {
            case .corrupt?: throw ExitCode(1)
            case _?: throw ExitCode(2)
            case nil: return
            }
        }
    }

    /// Returns the document of a file, with a final newline.
    private static func json(_ file: FileInspection) -> [UInt8] {
        var writer = JSONWriter()
        file.write(to: &writer)
        writer.newLine()
        return writer.bytes
    }
}
