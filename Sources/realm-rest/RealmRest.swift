// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
internal import RealmFormats
import RealmHTTP
internal import RealmHosting
internal import RealmPlatform
internal import RealmStorage

/// The program `realm-rest`: a server for Realm database files over HTTP and JSON, with tools
/// for such files.
@main
struct RealmRest: ParsableCommand {
    /// The name of the program, its description for `--help` and its commands.
    static let configuration = CommandConfiguration(
        commandName: Build.name,
        abstract: "Serves Realm database files over HTTP and JSON, and inspects them.",
        version: Build.version,
        subcommands: [
            ServeCommand.self, OpenCommand.self, InfoCommand.self, DumpCommand.self, VerifyCommand.self,
            RecoverCommand.self, SchemaCommand.self, QueryCommand.self,
            HealthCommand.self,
            OpenAPICommand.self,
            WatchCommand.self, ImportCommand.self, ExportCommand.self, DemoCommand.self,
            ConfigCommand.self, CopyCommand.self, UpgradeCommand.self, CompactCommand.self, BackupCommand.self,
            RestoreCommand.self,
            ShipCommand.self, ApplyCommand.self, ClusterCommand.self,
            KeysCommand.self,
        ])

    /// Configures crash reports and the crypto library, and then runs the command that the arguments name.
    static func main() {
        CryptoLibrary.keepUntilExit()
        CrashReports.hideValues()
        let commands = configuration.subcommands.compactMap { $0.configuration.commandName }
        if let mistake = CommandName.mistake(in: Array(CommandLine.arguments.dropFirst()), commands: commands) {
            exit(withError: wrongUse(mistake))
        }
        main(nil)
    }
}
