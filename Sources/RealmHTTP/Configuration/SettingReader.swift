// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Reads one value of a configuration, and knows where it stands.
struct SettingReader {
    /// The place of the value in the configuration.
    let place: InputPlace
    /// The folder that relative paths start from; nil for the working folder.
    let folder: String?

    /// Returns the reader of a member of the value.
    func inside(_ name: String) -> SettingReader { SettingReader(place: place.inside(name), folder: folder) }

    /// Returns the reader of an element of the value.
    func inside(_ index: Int) -> SettingReader { SettingReader(place: place.inside(index), folder: folder) }

    /// The problem of this value.
    func problem(_ detail: String) -> Problem { Problem(.invalidBody, detail).with("pointer", place.pointer) }

    /// Reads text; a number is taken as it is written.
    func text(_ json: JSONValue) throws(Problem) -> String {
        switch json {
        case .string(let text): return text
        case .integer(let number): return String(number)
        default: throw problem("\(json.kind) was found where text is needed")
        }
    }

    /// Reads true or false.
    func flag(_ json: JSONValue) throws(Problem) -> Bool {
        guard case .bool(let flag) = json else { throw problem("\(json.kind) was found where true or false is needed") }
        return flag
    }

    /// Reads a whole number in a range.
    func number(_ json: JSONValue, _ range: ClosedRange<Int>) throws(Problem) -> Int {
        let number = Quantity.whole(json) ?? json.string.flatMap { Quantity.number($0[...]) }
        guard let number, range.contains(number) else {
            throw problem("a number from \(range.lowerBound) to \(range.upperBound) is needed")
        }
        return number
    }

    /// Reads a word that is one of several.
    func choice(_ json: JSONValue, among choices: [String]) throws(Problem) -> String {
        let text = try text(json)
        guard choices.contains(text) else { throw problem("'\(text)' has to be one of: \(choices.joined(separator: ", "))") }
        return text
    }

    /// Reads a path. A relative one starts from the folder of the configuration file.
    func path(_ json: JSONValue) throws(Problem) -> String {
        let text = try text(json)
        guard !text.isEmpty, !text.utf8.contains(0) else { throw problem("a path is needed") }
        guard let folder, !text.hasPrefix("/") else { return text }
        return folder + "/" + text
    }

    /// Reads a list; a single value is a list of one.
    ///
    /// - Parameters:
    ///   - json: The value.
    ///   - read: Reads one element.
    func list<Element>(
        _ json: JSONValue, _ read: (SettingReader, JSONValue) throws(Problem) -> Element
    ) throws(Problem) -> [Element] {
        guard let array = json.array else { return [try read(self, json)] }
        var list: [Element] = []
        for (index, one) in array.enumerated() { list.append(try read(inside(index), one)) }
        return list
    }

    /// Reads the members of an object, each with its name.
    func members(_ json: JSONValue) throws(Problem) -> [(name: String, value: JSONValue)] {
        guard let object = json.object else { throw problem("\(json.kind) was found where an object is needed") }
        return object.members
    }

    /// Reads an encryption key from the file at a path.
    func key(_ json: JSONValue) throws(Problem) -> EncryptionKey {
        let path = try path(json)
        do throws(StorageError) {
            return try EncryptionKey(contentsOfFile: path)
        } catch {
            throw problem("the key in '\(path)' cannot be read: \(error)")
        }
    }
}
