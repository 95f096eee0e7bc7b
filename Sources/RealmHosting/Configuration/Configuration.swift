// SPDX-License-Identifier: Apache-2.0

package import RealmAccess
internal import RealmEngine
package import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The options of a server, and the origin of each value: the configuration file, the command line, or none for defaults.
///
/// Later values win, so the file is applied before the command line.
package struct Configuration: Sendable {
    /// The origin of the value of a setting.
    private enum Origin {
        case file(line: Int?)
        case commandLine
    }

    /// The place of a value in a file.
    private struct StatedPlace {
        /// The line; nil when it is unknown.
        let line: Int?
    }

    /// One step by which a configuration was made, for making it again.
    private enum Step {
        /// The settings of a file.
        case file(path: String)
        /// An option of the command line.
        case option(name: String, value: JSONValue)
        /// An option `--limit` of the command line.
        case limit(String)
    }

    /// The options that result.
    package var options: ServerOptions
    /// Reads the keys of issuers in files, for checking the options and for putting them in force.
    package let keySets = KeySetFiles()
    /// The options before the first step.
    private let defaults: ServerOptions
    /// The steps that led to the options, in their order.
    private var steps: [Step] = []
    /// The origins of values, by the name of the setting, or of a member that was stated separately; defaults are absent.
    private var origins: [ByteText: Origin] = [:]
    /// The path of the file; nil when there is none.
    private var file: String?
    /// The lines of the values in the file, by the JSON Pointer.
    private var lines: ConfigurationText?

    /// The name of the file that `serve` searches in its working folder.
    package static let usualFile = "realm-rest.yaml"
    /// The greatest length of a configuration file in bytes.
    private static let byteLimit = 4 << 20

    /// Makes a configuration of defaults.
    ///
    /// - Parameter options: The options to start from.
    package init(_ options: ServerOptions = ServerOptions()) {
        self.options = options
        defaults = options
    }

    /// Whether the configuration includes a file.
    package var hasFile: Bool { steps.contains { if case .file = $0 { true } else { false } } }

    /// Makes the configuration again from the same file, as it is now, and the same command line.
    ///
    /// Key files and other files that it names are read again too.
    ///
    /// - Returns: The new configuration.
    /// - Throws: `ConfigurationError`, as `apply(file:)`.
    package func again() throws(ConfigurationError) -> Configuration {
        var configuration = Configuration(defaults)
        for step in steps {
            switch step {
            case .file(let path): try configuration.apply(file: path)
            case .option(let name, let value): try configuration.apply(option: name, value)
            case .limit(let text): try configuration.apply(limit: text)
            }
        }
        return configuration
    }

    // MARK: - The file

    /// Applies the settings of a file.
    ///
    /// - Parameter path: The path of the file, in YAML or JSON. Relative paths in it start from its
    ///   folder.
    /// - Throws: `ConfigurationError` with the line, for a file that cannot be read, is malformed,
    ///   or has a setting that is unknown or out of range. Nothing is applied then.
    package mutating func apply(file path: String) throws(ConfigurationError) {
        let bytes: [UInt8]
        do throws(StorageError) {
            bytes = try FileMapping.contents(ofFile: path, limit: Configuration.byteLimit)
        } catch {
            throw ConfigurationError(file: path, text: "\(error)")
        }
        try apply(text: String(decoding: bytes, as: UTF8.self), ofFile: path)
        steps.append(.file(path: path))
    }

    /// Applies the settings of the text of a file.
    ///
    /// - Parameters:
    ///   - text: The contents of the file.
    ///   - path: Its path, for messages and relative paths.
    /// - Throws: `ConfigurationError`, as `apply(file:)`.
    package mutating func apply(text: String, ofFile path: String) throws(ConfigurationError) {
        var copy = self
        copy.file = path
        do throws(ConfigurationError) {
            let text = try ConfigurationText(text)
            copy.lines = text
            var stated: [ByteText: String] = [:]
            let slash = path.lastIndex(of: "/")
            let reader = SettingReader(place: InputPlace(), folder: slash.map { String(path[..<$0]) })
            do throws(Problem) {
                try copy.apply(text.json, in: "", reader, &stated)
            } catch {
                throw ConfigurationError(line: error.pointer.flatMap { copy.lines?.line(of: $0) }, text: error.detail)
            }
        } catch {
            var error = error
            error.file = path
            throw error
        }
        self = copy
    }

    /// Applies the members of an object, which are settings or sections of them.
    ///
    /// - Parameters:
    ///   - json: The object.
    ///   - prefix: The name of the section with a dot; empty for the whole file.
    ///   - reader: The reader of the object.
    ///   - stated: The names under which settings were stated so far, by their own names.
    private mutating func apply(
        _ json: JSONValue, in prefix: String, _ reader: SettingReader, _ stated: inout [ByteText: String]
    ) throws(Problem) {
        var backup: [(name: String, value: JSONValue)] = []
        for (name, value) in try reader.members(json) {
            let inner = reader.inside(name)
            // `listen` is a list of listeners, or a section with the host and the port of one; `audit`, `ship` and `cluster`
            // are a path, or a section.
            let isSection =
                value.object != nil && ["listen", "audit", "ship", "cluster"].contains(ServerSetting.form(prefix + name))
            if !isSection, let setting = ServerSetting.named(prefix + name) {
                try apply(value, to: setting, as: prefix + name, inner, &stated)
            } else if let section = ServerSetting.section(named: prefix + name) {
                if value != .null { try apply(value, in: section + ".", inner, &stated) }
            } else if prefix.isEmpty, let member = ServerSetting.backupMember(named: name) {
                lines?.setLine(of: "/backup/" + member, as: inner.place.pointer)
                lines?.setLine(of: "/backup", as: inner.place.pointer)
                guard !backup.contains(where: { $0.name == member }), stated["backup"] == nil else {
                    throw inner.problem("'backup.\(member)' is stated twice")
                }
                backup.append((member, value))
            } else {
                let hint = Suggestion.hint(for: name, in: ServerSetting.names(in: prefix))
                throw inner.problem("there is no setting '\(prefix)\(name)'\(hint)")
            }
        }
        guard !backup.isEmpty, let setting = ServerSetting.named("backup") else { return }
        try apply(.object(JSONObject(backup)), to: setting, as: "backup-every", reader.inside("backup"), &stated)
    }

    /// Applies the value of one setting of a file.
    private mutating func apply(
        _ value: JSONValue, to setting: ServerSetting, as name: String, _ reader: SettingReader,
        _ stated: inout [ByteText: String]
    ) throws(Problem) {
        if let other = stated.updateValue(name, forKey: setting.name) {
            throw reader.problem("'\(setting.name)' is stated twice, also as '\(other)'")
        }
        // A setting that is null has its default.
        if value == .null { return }
        try setting.read(reader, value, &options)
        let lines = lines
        note(setting, value) { member in .file(line: lines?.line(of: (member.map { reader.inside($0) } ?? reader).place.pointer))
        }
    }

    /// Notes where the value of a setting came from, or its members where they are stated one by one.
    private mutating func note(_ setting: ServerSetting, _ value: JSONValue, _ origin: (String?) -> Origin) {
        guard setting.isMerged, let object = value.object else {
            origins[setting.name] = origin(nil)
            return
        }
        for name in object.names { origins[setting.name + "." + name] = origin(name) }
    }

    // MARK: - The command line

    /// Applies one option of the command line.
    ///
    /// - Parameters:
    ///   - option: The name of the option, without hyphens in front.
    /// - Throws: `ConfigurationError` that names the option, for a value that it does not take.
    package mutating func apply(option: String, _ value: JSONValue) throws(ConfigurationError) {
        guard let setting = ServerSetting.named(option) else {
            throw ConfigurationError(text: "there is no option --\(option)")
        }
        do throws(Problem) {
            try setting.read(SettingReader(place: InputPlace(), folder: nil, isCommandLine: true), value, &options)
        } catch {
            let suffix = Configuration.suffix(error.pointer, of: option, value)
            throw ConfigurationError(text: "--\(option)\(suffix): \(error.detail)")
        }
        note(setting, value) { _ in .commandLine }
        steps.append(.option(name: option, value: value))
    }

    /// The options that take pairs such as `NAME=FILE`.
    private static let pairs: Set<ByteText> = ["key", "backlink-names"]

    /// Returns the suffix of an option that states a member of an object: `-key-file` for `/keyFile`.
    ///
    /// - Parameters:
    ///   - pointer: The place of the error in the value.
    ///   - value: The value. An element of a list is not a separate option, and names of pairs follow a blank.
    private static func suffix(_ pointer: String?, of option: String, _ value: JSONValue) -> String {
        if case .array = value { return "" }
        if let pointer, pairs.contains(option) { return " " + pointer.dropFirst() }
        return (pointer ?? "").map { character in
            character == "/" ? "-" : character.isUppercase ? "-" + character.lowercased() : String(character)
        }.joined()
    }

    /// Applies one option `--limit NAME=VALUE`.
    ///
    /// - Throws: `ConfigurationError` for another form, an unknown name, or a value out of range.
    package mutating func apply(limit: String) throws(ConfigurationError) {
        do throws(Limits.Rejection) {
            try options.limits.apply(limit)
        } catch {
            throw ConfigurationError(text: "--limit: \(error)")
        }
        origins["limits." + limit.prefix { $0 != "=" }] = .commandLine
        steps.append(.limit(limit))
    }

    // MARK: - Showing

    /// The configuration in force: `name = value  # origin` for each setting, with secrets as `***`.
    package var description: [String] {
        var text: [String] = []
        for setting in ServerSetting.all {
            let pointer = "/" + setting.name.replacing(".", with: "/")
            append(setting.show(options), of: setting, name: setting.name, pointer: pointer, to: &text)
        }
        return text + keysOfEnvironment
    }

    /// Appends the line of a value, or one for each member of an object.
    private func append(
        _ value: JSONValue, of setting: ServerSetting, name: String, pointer: String, to text: inout [String]
    ) {
        guard !isOverruled(name) else { return }
        if let object = value.object, object.count > 0 {
            for (member, inner) in object.members {
                append(
                    inner, of: setting, name: name + "." + member, pointer: pointer + InputPath([.name(member)]).description,
                    to: &text)
            }
            return
        }
        var writer = JSONWriter()
        writer.write(value)
        text.append("\(name) = \(writer.buffer.text)  # \(origin(name, pointer))")
    }

    /// Whether a name is that of a key or of names in the entry of a realm for which the command line has others.
    private func isOverruled(_ name: String) -> Bool {
        options.realms.contains { realm in
            (name == "realms.\(realm.name).keyFile" && options.keys[realm.name.text] != nil)
                || (name == "realms.\(realm.name).backlinkNames" && options.backlinkNames[realm.name.text] != nil)
        }
    }

    /// The words for where a value came from.
    private func origin(_ name: String, _ pointer: String) -> String {
        switch Configuration.origin(of: name, in: origins) {
        case nil: return "default"
        case .commandLine?: return "command line"
        case .file(let line)?:
            let line = lines?.lines[pointer] ?? line
            return line.map { "file, line \($0)" } ?? "file"
        }
    }

    /// The origin of a value, or else that of the innermost value around it that has one.
    private static func origin(of name: String, in origins: [ByteText: Origin]) -> Origin? {
        var name = name[...]
        while true {
            if let origin = origins[String(name)] { return origin }
            guard let dot = name.lastIndex(of: ".") else { return nil }
            name = name[..<dot]
        }
    }

    /// The lines for the keys that the environment has for the realms that are named and have no other key.
    private var keysOfEnvironment: [String] {
        let names = options.realms.filter { $0.settings.key == nil }.map(\.name.text)
        return (names + options.paths.compactMap { RealmName(file: $0)?.text })
            .filter { options.keys[$0] == nil && options.environmentKey(of: $0) != nil }
            .map { "keys.\($0) = \"***\"  # environment" }
    }

    // MARK: - Checking

    /// Returns the error about a part of a role that does not fit the schema of a realm, with its line in the file.
    package func error(about defect: RoleDefect) -> ConfigurationError {
        ConfigurationError(file: file, line: lines?.line(of: defect.pointer), text: "\(defect)")
    }

    /// Checks the combination of settings, and their requirements for this machine, before anything is opened.
    ///
    /// - Throws: `ConfigurationError` with the line for values of a file. Values of the command line are left to the start of the
    ///   server, except for options that exclude each other.
    package func check() throws(ConfigurationError) {
        for conflict in options.conflicts(keySets) {
            let origin = conflict.settings.lazy.compactMap { place -> StatedPlace? in
                guard case .file(let line)? = Configuration.origin(of: place.name, in: origins) else { return nil }
                return StatedPlace(line: lines?.lines[place.pointer] ?? line)
            }.first
            let isStated = conflict.settings.contains { Configuration.origin(of: $0.name, in: origins) != nil }
            guard origin != nil || (conflict.isOfOptions && isStated), let text = conflict.text() else { continue }
            throw ConfigurationError(file: origin == nil ? nil : file, line: origin?.line, text: text)
        }
    }
}

extension Problem {
    /// The JSON Pointer to the place of the problem; nil when it has none.
    fileprivate var pointer: String? {
        for member in extensions where member.name.description == "pointer" {
            if case .text(let text) = member.value { return text }
        }
        return nil
    }
}
