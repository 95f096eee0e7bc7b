// SPDX-License-Identifier: Apache-2.0

/// One setting of the server: how a configuration states it, and how its value is shown.
///
/// The command line and the configuration file state the same settings, and both are read here.
struct ServerSetting: Sendable {
    /// Reads a value into the options.
    typealias Read = @Sendable (SettingReader, JSONValue, inout ServerOptions) throws(Problem) -> Void
    /// Returns the value that the options have, without secrets.
    typealias Show = @Sendable (ServerOptions) -> JSONValue

    /// The name in the configuration file; a dot separates the members of an object.
    let name: String
    /// The name of the option on the command line, which the configuration file takes as well; nil
    /// when it is that of the setting.
    let option: String?
    /// Reads a value into the options.
    let read: Read
    /// Returns the value that the options have.
    let show: Show

    /// When another value is in force after the configuration was read again.
    let effect: SettingEffect

    /// Makes a setting.
    init(
        _ name: String, option: String? = nil, effect: SettingEffect = .restart, read: @escaping Read, show: @escaping Show
    ) {
        self.name = name
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

    /// Returns whether a name is that of an object whose members are settings.
    static func isSection(_ name: String) -> Bool {
        let form = form(name) + "."
        return all.contains { ServerSetting.form($0.name).hasPrefix(form) }
    }

    /// The names that the members of a section may have; those of the whole file for an empty
    /// prefix.
    static func names(in prefix: String) -> [String] {
        var names: [String] = []
        for setting in all where setting.name.hasPrefix(prefix) {
            let name = String(setting.name.dropFirst(prefix.count).prefix { $0 != "." })
            if names.last != name { names.append(name) }
        }
        return names
    }

    /// A name without hyphens and capitals, for comparison.
    private static func form(_ name: String) -> String { name.lowercased().filter { $0 != "-" } }
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

    /// A setting whose value is a list of texts.
    static func texts(
        _ name: String, option: String? = nil, _ path: any WritableKeyPath<ServerOptions, [String]> & Sendable,
        arePaths: Bool = false
    ) -> ServerSetting {
        ServerSetting(
            name, option: option,
            read: { reader, json, options throws(Problem) in
                options[keyPath: path] = try reader.list(json) { reader, one throws(Problem) in
                    arePaths ? try reader.path(one) : try reader.text(one)
                }
            },
            show: { .array($0[keyPath: path].map { .string($0) }) })
    }

    /// The setting of a limit. A time may have a unit such as `5m`, a number of bytes one such as
    /// `64MiB`.
    static func limit(_ entry: Limits.Entry) -> ServerSetting {
        ServerSetting(
            "limits." + entry.name, effect: entry.takesEffect,
            read: { reader, json, options throws(Problem) in
                let text = try reader.text(json)
                do throws(Limits.Rejection) {
                    try options.limits.set(entry, text)
                } catch {
                    throw reader.problem(error.text)
                }
            },
            show: { .integer(Int64($0.limits[keyPath: entry.path])) })
    }
}
