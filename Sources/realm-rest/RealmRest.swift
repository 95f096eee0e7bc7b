// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
internal import RealmFormats
import RealmHTTP
internal import RealmHosting
internal import RealmPlatform
internal import RealmStorage

/// The program `realm-rest`: a server for Realm database files over HTTP and JSON, with tools for such files.
@main
struct RealmRest: ParsableCommand {
    /// The name of the program, its description for `--help` and its commands.
    static let configuration = CommandConfiguration(
        commandName: Build.name,
        abstract: "Serves Realm database files over HTTP and JSON, and inspects them.",
        version: Build.version,
        subcommands: [
            ServeCommand.self, OpenCommand.self, InfoCommand.self, StatsCommand.self, DumpCommand.self, VerifyCommand.self,
            RecoverCommand.self, SchemaCommand.self, QueryCommand.self, SQLCommand.self, DiffCommand.self,
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

/// Controls the crash reports of Swift.
///
/// The backtrace is printed, but neither registers nor the memory that they point to, because
/// that may contain keys and values of users.
private enum CrashReports {
    /// The environment variable with which the Swift runtime is configured.
    static let setting = "SWIFT_BACKTRACE"

    /// Starts the program again with a setting that hides values, unless the user has configured the variable.
    ///
    /// The runtime reads its settings before `main`, so the process replaces itself by the same program; its id and its open
    /// files remain. If that is not possible, it continues without the setting.
    static func hideValues() {
        guard unsafe getenv(setting) == nil, unsafe setenv(setting, "registers=none,images=none", 1) == 0 else { return }
        unsafe execv("/proc/self/exe", CommandLine.unsafeArgv)
        // Without /proc the program continues as it is.
    }
}
