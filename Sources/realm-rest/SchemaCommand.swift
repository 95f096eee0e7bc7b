// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import RealmEngine
internal import RealmFormats
import RealmHTTP
internal import RealmPlatform
internal import RealmStorage

/// Lets the option `--format` accept the names of schema formats.
extension SchemaFormat: ExpressibleByArgument {}

/// The command `realm-rest schema`: prints the schema of a file.
struct SchemaCommand: ParsableCommand {
    /// The name of the command and its description for `--help`.
    static let configuration = CommandConfiguration(
        commandName: "schema", abstract: "Prints the schema of a file as JSON, or as model classes.")

    /// The file and how it is opened.
    @OptionGroup var options: FileOptions

    /// The format of the output: JSON, JSON Schema, model classes of a language, or a diagram.
    @Option(help: "json, json-schema, swift, kotlin, typescript or mermaid.")
    var format = SchemaFormat.json

    /// Prints the schema of the newest version to standard output.
    func run() throws {
        try options.reading { snapshot in
            let text = format.text(RealmSchema(snapshot))
            try options.output(Array((text.hasSuffix("\n") ? text : text + "\n").utf8), of: snapshot)
        }
    }
}
