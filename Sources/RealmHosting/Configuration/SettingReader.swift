// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Reads one value of a configuration, and knows where it stands.
struct SettingReader {
    /// The place of the value in the configuration.
    let place: InputPlace
    /// The folder that relative paths start from; nil for the working folder.
    let folder: String?
    /// Whether the value is from the command line, and not from a file.
    let isCommandLine: Bool

    /// Makes the reader of a value.
    ///
    /// - Parameters:
    ///   - place: The place of the value in the configuration.
    ///   - folder: The folder that relative paths start from; nil for the working folder.
    ///   - isCommandLine: Whether the value is from the command line, and not from a file.
    init(place: InputPlace, folder: String?, isCommandLine: Bool = false) {
        self.place = place
        self.folder = folder
        self.isCommandLine = isCommandLine
    }

    /// Returns the reader of a member of the value.
    func inside(_ name: String) -> SettingReader {
        SettingReader(place: place.inside(name), folder: folder, isCommandLine: isCommandLine)
    }

    /// Returns the reader of an element of the value.
    func inside(_ index: Int) -> SettingReader {
        SettingReader(place: place.inside(index), folder: folder, isCommandLine: isCommandLine)
    }

    func problem(_ detail: String) -> Problem { Problem(.invalidBody, detail).with("pointer", place.pointer) }

    /// Reads text. A number is none: in a file it needs quotes.
    func text(_ json: JSONValue) throws(Problem) -> String {
        guard case .string(let text) = json else { throw problem("expected a string, got \(json.kind)") }
        return text
    }

    /// Reads a time: a number of seconds, or a string with a unit such as `500ms` or `5m`.
    ///
    /// - Parameters:
    ///   - range: The permitted times.
    ///   - rule: The rule in the error.
    func time(_ json: JSONValue, _ range: ClosedRange<Duration>, _ rule: String) throws(Problem) -> Duration {
        // The command line has only texts, so a text of digits is a number of seconds too.
        let seconds = json.string.flatMap { Quantity.number($0[...]) }.map { JSONValue.integer(Int64($0)) }
        guard let time = Quantity.duration(seconds ?? json), range.contains(time) else { throw problem(rule) }
        return time
    }

    /// Reads true or false.
    func flag(_ json: JSONValue) throws(Problem) -> Bool {
        guard case .bool(let flag) = json else { throw problem("expected true or false, got \(json.kind)") }
        return flag
    }

    /// Reads a whole number in a range.
    func number(_ json: JSONValue, _ range: ClosedRange<Int>) throws(Problem) -> Int {
        guard let number = Quantity.whole(json), range.contains(number) else {
            throw problem("expected a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// Reads a word that is one of several.
    func choice(_ json: JSONValue, among choices: [String]) throws(Problem) -> String {
        let text = try text(json)
        guard choices.contains(text) else { throw problem("'\(text)' must be one of: \(choices.joined(separator: ", "))") }
        return text
    }

    /// Reads a path. A relative one starts from the folder of the configuration file.
    func path(_ json: JSONValue) throws(Problem) -> String {
        let text = try text(json)
        guard !text.isEmpty, !text.utf8.contains(0) else { throw problem("expected a path") }
        guard let folder, !text.hasPrefix("/") else { return text }
        return folder + "/" + text
    }

    func list<Element>(
        _ json: JSONValue, _ read: (SettingReader, JSONValue) throws(Problem) -> Element
    ) throws(Problem) -> [Element] {
        guard let array = json.array else { throw problem("expected a list, got \(json.kind)") }
        var list: [Element] = []
        for (index, one) in array.enumerated() { list.append(try read(inside(index), one)) }
        return list
    }

    /// Reads the members of an object, each with its name.
    func members(_ json: JSONValue) throws(Problem) -> [(name: String, value: JSONValue)] {
        guard let object = json.object else { throw problem("expected an object, got \(json.kind)") }
        return object.members
    }

    /// Reads an encryption key from the file at a path.
    func key(_ json: JSONValue) throws(Problem) -> EncryptionKey {
        let path = try path(json)
        do throws(StorageError) {
            return try EncryptionKey(contentsOfFile: path)
        } catch {
            throw problem("the key in '\(SecretText.shown(path))' cannot be read: \(error)")
        }
    }
}
