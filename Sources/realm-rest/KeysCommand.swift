// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
internal import MicroHTTP
internal import RealmAccess
import RealmEngine
internal import RealmFormats
import RealmHTTP
internal import RealmHosting
internal import RealmPlatform
internal import RealmStorage

/// The command `realm-rest keys`: makes, lists, replaces and revokes the API keys of a data folder. A running server notices
/// within a second.
struct KeysCommand: ParsableCommand {
    /// The name of the command, its description for `--help` and its commands.
    static let configuration = CommandConfiguration(
        commandName: "keys", abstract: "Makes, lists, replaces and revokes API keys.",
        discussion: """
            Only a digest of a key is stored, so a key is printed once, alone on standard output. A running server takes notice \
            within a second.
            """,
        subcommands: [AddCommand.self, ListCommand.self, RevokeCommand.self, RotateCommand.self])

    /// The command `realm-rest keys add NAME --role ROLE`.
    struct AddCommand: ParsableCommand {
        /// The name of the command and its description for `--help`.
        static let configuration = CommandConfiguration(commandName: "add", abstract: "Makes a key and prints it.")

        @Argument(help: "The name of the key, which is the claim 'sub' of its holder too.")
        var name: String

        @Option(
            name: .customLong("role"), help: ArgumentHelp("A role of the key. May be given several times.", valueName: "ROLE"))
        var roles: [String] = []

        /// The only realm of the key; nil for all.
        @Option(help: ArgumentHelp("The only realm that the key is good for.", valueName: "REALM"))
        var realm: String?

        /// The time until the key expires; nil for never.
        @Option(help: ArgumentHelp("The time until the key expires, such as 90d; without it, it does not.", valueName: "TIME"))
        var expires: String?

        @Option(
            name: .customLong("from"),
            help: ArgumentHelp("A network from which the key may be used. May be given several times.", valueName: "CIDR"))
        var networks: [String] = []

        /// Additional claims, each as `NAME=VALUE`.
        @Option(
            name: .customLong("claim"),
            help: ArgumentHelp("A claim of the holder, for rules. May be given several times.", valueName: "NAME=VALUE"))
        var claims: [String] = []

        @OptionGroup var confirmation: KeyConfirmation

        @OptionGroup var place: KeyPlaceOptions

        /// Checks the values of the options; ArgumentParser calls it before `run`.
        func validate() throws {
            guard KeyRules.isName(name) else { throw ValidationError(KeyRules.nameRule) }
            guard !roles.isEmpty, roles.allSatisfy(KeyRules.isRole) else { throw ValidationError("--role: " + KeyRules.roleRule) }
            if let realm, RealmName(realm) == nil { throw ValidationError("--realm: " + RealmName.rule) }
            if let expires, KeyRules.expiry(expires) == nil { throw ValidationError("--expires: " + KeyRules.expiryRule) }
            guard networks.allSatisfy({ AddressRange($0) != nil }) else {
                throw ValidationError("--from: " + KeyRules.networkRule)
            }
            guard members != nil else { throw ValidationError("--claim takes NAME=VALUE, and each name once") }
        }

        /// The claims as members; nil when one of them is malformed or stated twice.
        private var members: [(name: String, value: JSONValue)]? {
            var members: [(name: String, value: JSONValue)] = []
            for claim in claims {
                guard let equals = claim.firstIndex(of: "="), equals != claim.startIndex else { return nil }
                let name = String(claim[..<equals])
                guard !members.contains(where: { $0.name == name }) else { return nil }
                members.append((name, .string(String(claim[claim.index(after: equals)...]))))
            }
            return members
        }

        /// Makes the key and prints it.
        ///
        /// - Throws: `ExitCode(1)` after a message when a role does not exist, when the first key would not administer, or when it
        ///   cannot be stored.
        func run() throws {
            let text = APIKeyText()
            let key = APIKey(
                text, name: name, roles: roles, realm: realm, claims: JSONObject(members ?? []),
                networks: networks.compactMap { AddressRange($0) }, expires: expires.flatMap(KeyRules.expiry))
            var defect: String?
            try place.perform { file, check throws(KeyFile.Failure) in
                defect = check.defect(ofRoles: roles)
                if defect == nil { try file.add(key, confirmation.isGiven ? nil : check) }
            }
            if let defect {
                let others = place.hasConfiguration ? "" : "; --config FILE names the configuration that has others"
                StandardStreams.error("--role: " + defect + others)
                throw ExitCode(1)
            }
            try StandardStreams.output(text.text + "\n")
        }
    }

    /// The command `realm-rest keys list`.
    struct ListCommand: ParsableCommand {
        /// The name of the command and its description for `--help`.
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "Prints all keys, without their secrets, in fields that tabs separate.")

        @OptionGroup var place: KeyPlaceOptions

        /// Prints a line for each key.
        ///
        /// - Throws: `ExitCode(1)` after a message when the keys cannot be read.
        func run() throws {
            let keys = try place.perform { file, _ throws(KeyFile.Failure) in try file.read() ?? [] }
            try StandardStreams.output(([APIKey.lineHeader] + keys.map(\.line)).map { $0 + "\n" }.joined())
        }
    }

    /// The command `realm-rest keys revoke ID`.
    struct RevokeCommand: ParsableCommand {
        /// The name of the command and its description for `--help`.
        static let configuration = CommandConfiguration(commandName: "revoke", abstract: "Revokes a key, and ends its streams.")

        @Argument(help: "The id of the key: the eight digits behind rr_.")
        var id: String

        @OptionGroup var confirmation: KeyConfirmation

        @OptionGroup var place: KeyPlaceOptions

        /// Revokes the key.
        ///
        /// - Throws: `ExitCode(1)` after a message when there is no such key, when it is the last one that administers, or when it
        ///   cannot be removed.
        func run() throws {
            try place.perform { file, check throws(KeyFile.Failure) in try file.revoke(id, confirmation.isGiven ? nil : check) }
        }
    }

    /// The command `realm-rest keys rotate ID`.
    struct RotateCommand: ParsableCommand {
        /// The name of the command and its description for `--help`.
        static let configuration = CommandConfiguration(
            commandName: "rotate", abstract: "Gives a key a new secret, prints the key, and ends the old secret at once.")

        @Argument(help: "The id of the key: the eight digits behind rr_.")
        var id: String

        @OptionGroup var place: KeyPlaceOptions

        /// Replaces the secret and prints the key.
        ///
        /// - Throws: `ExitCode(1)` after a message when there is no such key, or it cannot be stored.
        func run() throws {
            let text = try place.perform { file, _ throws(KeyFile.Failure) in try file.rotate(id).text }
            try StandardStreams.output(text.text + "\n")
        }
    }
}

/// The option by which a change of keys is confirmed after which no key administers.
struct KeyConfirmation: ParsableArguments {
    /// The confirmation; nil for none.
    @Option(
        help: ArgumentHelp(
            "\(CredentialCheck.confirmation) permits that no key administers the server afterwards.",
            valueName: CredentialCheck.confirmation))
    var confirm: String?

    /// Whether it is confirmed.
    var isGiven: Bool { confirm != nil }

    /// Checks the value; ArgumentParser calls it before `run`.
    func validate() throws {
        guard let confirm, confirm != CredentialCheck.confirmation else { return }
        throw ValidationError("--confirm takes '\(CredentialCheck.confirmation)'")
    }
}
