// SPDX-License-Identifier: Apache-2.0

internal import RealmAccess
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// One setting of the server: how a configuration states it, and how its value is shown.
///
/// The command line and the configuration file state the same settings, and both are read here.
package struct ServerSetting: Sendable {
    /// Reads a value into the options.
    typealias Read = @Sendable (SettingReader, JSONValue, inout ServerOptions) throws(Problem) -> Void
    /// Returns the value that the options have, without secrets.
    typealias Show = @Sendable (ServerOptions) -> JSONValue

    /// The name in the configuration file; a dot separates the members of an object.
    package let name: String
    /// The name of the option on the command line, which the configuration file takes as well; nil
    /// when it is that of the setting.
    let option: String?
    /// Reads a value into the options.
    let read: Read
    /// Returns the value that the options have.
    let show: Show

    /// Whether the members of the value are stated one by one: a member on the command line leaves the others as the file has
    /// them.
    let isMerged: Bool
    /// The time at which another value takes effect after the configuration was read again.
    let effect: SettingEffect

    init(
        _ name: String, option: String? = nil, effect: SettingEffect = .restart, isMerged: Bool = false,
        read: @escaping Read, show: @escaping Show
    ) {
        self.name = name
        self.isMerged = isMerged
        self.effect = effect
        self.option = option
        self.read = read
        self.show = show
    }

    /// Returns the setting of a name as the configuration file has it. Hyphens and capitals do not
    /// count, so that the names of the command line are understood too.
    static func named(_ name: String) -> ServerSetting? {
        let form = form(name)
        return all.first { ServerSetting.form($0.name) == form || $0.option.map { ServerSetting.form($0) } == form }
    }

    /// Returns the object whose members are settings, by the name that a file has for it; nil for another name.
    static func section(named name: String) -> String? {
        // The command line has one option for all limits.
        let form = form(name) == "limit" ? "limits." : form(name) + "."
        guard let setting = all.first(where: { ServerSetting.form($0.name).hasPrefix(form) }) else { return nil }
        return String(setting.name.prefix(form.utf8.count - 1))
    }

    /// The names that the members of a section may have; those of the whole file, with the options of the command
    /// line, for an empty prefix.
    static func names(in prefix: String) -> [String] {
        var names: [String] = []
        for setting in all where setting.name.hasPrefix(prefix) {
            let name = String(setting.name.dropFirst(prefix.count).prefix { $0 != "." })
            if names.last != name { names.append(name) }
        }
        guard prefix.isEmpty else { return names }
        return names + all.compactMap(\.option) + backupMembers.map { "backup-" + $0.lowercasedASCII }
    }

    /// The members of the plan of backups.
    static let backupMembers = ["every", "to", "keep", "keyFile", "endpoint", "region", "credentials"]

    /// Returns the member of the plan of backups that an option such as `backup-every` states; nil for another name.
    static func backupMember(named name: String) -> String? {
        backupMembers.first { form(name) == "backup" + form($0) }
    }

    /// A name without hyphens and capitals, for comparison.
    static func form(_ name: String) -> String { name.lowercasedASCII.filter { $0 != "-" } }
}

// MARK: - Kinds of settings

extension ServerSetting {
    /// A setting whose value is true or false.
    static func flag(
        _ name: String, option: String? = nil, _ path: any WritableKeyPath<ServerOptions, Bool> & Sendable,
        isInverted: Bool = false
    ) -> ServerSetting {
        ServerSetting(
            name, option: option,
            read: { reader, json, options throws(Problem) in options[keyPath: path] = try reader.flag(json) != isInverted },
            show: { .bool($0[keyPath: path] != isInverted) })
    }

    /// A setting whose value is a whole number.
    static func number(
        _ name: String, option: String? = nil, _ path: any WritableKeyPath<ServerOptions, Int> & Sendable,
        in range: ClosedRange<Int>, effect: SettingEffect = .restart
    ) -> ServerSetting {
        ServerSetting(
            name, option: option, effect: effect,
            read: { reader, json, options throws(Problem) in options[keyPath: path] = try reader.number(json, range) },
            show: { .integer(Int64($0[keyPath: path])) })
    }

    /// A setting whose value is a list of strings. `defect` returns the error in one of them, as a sentence.
    static func texts(
        _ name: String, option: String? = nil, _ path: any WritableKeyPath<ServerOptions, [String]> & Sendable,
        arePaths: Bool = false, defect: @escaping @Sendable (String) -> String? = { _ in nil }
    ) -> ServerSetting {
        ServerSetting(
            name, option: option,
            read: { reader, json, options throws(Problem) in
                options[keyPath: path] = try reader.list(json) { reader, one throws(Problem) in
                    let text = arePaths ? try reader.path(one) : try reader.text(one)
                    if let defect = defect(text) { throw reader.problem(defect) }
                    return text
                }
            },
            show: { .array($0[keyPath: path].map { .string($0) }) })
    }

    /// The setting of a limit. A time may have a unit such as `5m`, a number of bytes one such as `64MiB`.
    static func limit(_ entry: Limits.Entry) -> ServerSetting {
        ServerSetting(
            "limits." + entry.name, effect: entry.takesEffect,
            read: { reader, json, options throws(Problem) in
                // A value that is neither a whole number nor a string is missing, and the error states the rule.
                let text = Quantity.whole(json).map { String($0) } ?? json.string ?? ""
                do throws(Limits.Rejection) { try options.limits.set(entry, text) } catch { throw reader.problem(error.text) }
            },
            show: { .integer(Int64($0.limits[keyPath: entry.path])) })
    }
}
