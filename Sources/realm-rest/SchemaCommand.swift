// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import RealmEngine
import RealmHTTP

extension SchemaFormat: ExpressibleByArgument {}

struct SchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema", abstract: "Prints the schema of a file as JSON, or as model classes.")

    @OptionGroup var options: FileOptions

    @Option(help: "json, json-schema, swift, kotlin, typescript or mermaid.")
    var format = SchemaFormat.json

    func run() throws {
        try options.reading { snapshot in
            let text = format.text(RealmSchema(snapshot))
            try options.output(Array((text.hasSuffix("\n") ? text : text + "\n").utf8), of: snapshot)
        }
    }
}
