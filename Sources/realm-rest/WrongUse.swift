// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import RealmEngine
internal import RealmPlatform
import RealmStorage

/// Prints the error in a value that a command was given, such as a query.
///
/// A `ValidationError` would add how the command is used, which says nothing about a value.
///
/// - Parameter text: The error, as a sentence without a full stop.
/// - Returns: The exit status of a wrong use, 64, to be thrown.
func wrongUse(_ text: String) -> ExitCode {
    StandardStreams.error("Error: " + StandardStreams.printable(text))
    return .validationFailure
}

/// Finds out that the first argument is no command, before the parser of arguments says only that it is unexpected.
enum CommandName {
    /// Words that other programs have for commands of this one.
    private static let meanings: [ByteText: String] = [
        "start": "serve", "run": "serve", "server": "serve", "up": "serve", "check": "verify", "validate": "verify",
        "fsck": "verify",
        "show": "open", "view": "open", "browse": "open", "print": "dump", "cat": "dump", "select": "query", "find": "query",
        "load": "import", "stat": "info", "file": "info", "identify": "info", "follow": "watch", "listen": "watch",
        "compare": "diff", "cmp": "diff", "vacuum": "compact", "undelete": "recover", "carve": "recover", "version": "--version",
    ]

    /// Returns the error in the first argument; nil when it is a command or an option.
    ///
    /// - Parameters:
    ///   - arguments: The arguments without the name of the program.
    static func mistake(in arguments: [String], commands: [String]) -> String? {
        guard let first = arguments.first, !first.hasPrefix("-"), !commands.contains(first), first != "help" else { return nil }
        if first.hasSuffix(".realm") || RealmFiles.exists(first) {
            return "'\(first.truncated)' is not a command; did you mean 'realm-rest serve \(first.truncated)'?"
        }
        let meant = meanings[first.lowercasedASCII].map { "; did you mean '\($0)'?" }
        let hint = meant ?? Suggestion.hint(for: first, in: commands)
        return "there is no command '\(first.truncated)'"
            + (hint.isEmpty ? "; there are \(commands.joined(separator: ", "))" : hint)
    }
}
