// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// Realm databases over HTTP/JSON, and the tools to look into their files.
@main
struct RealmRest: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "realm-rest",
        abstract: "Serves Realm database files over HTTP and JSON, and looks into them.",
        subcommands: [
            ServeCommand.self, DumpCommand.self, VerifyCommand.self, SchemaCommand.self, QueryCommand.self, HealthCommand.self,
            OpenAPICommand.self,
            WatchCommand.self, ImportCommand.self, ExportCommand.self, DemoCommand.self,
        ])

    static func main() {
        CrashReports.hideValues()
        main(nil)
    }
}
