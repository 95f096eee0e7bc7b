// SPDX-License-Identifier: Apache-2.0

package import RealmEngine
package import RealmFormats
internal import RealmPlatform
package import RealmStorage

/// Reads the changes of collections in the form that batches give them.
extension BatchOperation.CollectionStep {
    /// Returns the names of the changes that a kind of collection takes.
    package static func words(_ kind: CollectionKind) -> [String] {
        switch kind {
        case .list: return ["add", "insert", "set", "remove", "move", "swap", "clear", "deleteAll"]
        case .set: return ["insert", "remove", "clear", "union", "intersect", "minus"]
        case .dictionary: return ["set", "remove", "clear"]
        }
    }

    /// Checks the form of the value: pairs are arrays of two, `clear` and `deleteAll` take `true`, set operations take arrays.
    ///
    /// It is called while the batch is read, so that a malformed batch is refused before it waits
    /// for the writer. The values themselves meet their types later.
    ///
    /// - Throws: `invalid_body` with the place of the value.
    package func check() throws(Problem) {
        switch word {
        case "insert" where isPair, "set" where isPair, "move", "swap": _ = try pair()
        case "clear", "deleteAll": guard value == .bool(true) else { throw invalid("'\(word)' takes true") }
        case "union", "intersect", "minus": guard value.array != nil else { throw invalid("'\(word)' takes an array") }
        default: break
        }
    }

    /// Whether the change deletes the objects that a list of links points to, and does not only remove the links.
    package var deletesObjects: Bool { word == "deleteAll" }

    /// Whether `insert` and `set` take a pair: a position and a value in lists, a key and a value
    /// in dictionaries. In sets they take the value alone.
    private var isPair: Bool { collection != .set }

    /// Makes the problem of a value that has the wrong form.
    private func invalid(_ detail: String) -> Problem { place.describe(Problem(.invalidBody, detail)) }

    /// Returns the two elements of the value. Throws `invalid_body` unless it is an array of two.
    private func pair() throws(Problem) -> (JSONValue, JSONValue) {
        guard let elements = value.array, elements.count == 2 else { throw invalid("'\(word)' takes an array of two") }
        return (elements[0], elements[1])
    }

    /// Returns a position in a list. Throws `invalid_body` for anything but a whole number of at least 0.
    private func index(_ value: JSONValue) throws(Problem) -> Int {
        guard case .integer(let number) = value, number >= 0 else {
            throw invalid("a position in a list must be a whole number of at least 0")
        }
        return Int(number)
    }

    /// Reads an element, which may be a wrapper of Extended JSON or a link.
    ///
    /// - Parameters:
    ///   - value: The JSON of the element.
    ///   - index: The position of the element in the value of the step, for the pointer of an
    ///     error; nil when it is the whole value.
    private func read(_ value: JSONValue, _ index: Int? = nil) throws(Problem) -> InputValue {
        let result = Result { () throws(InputReader.InputError) in try InputReader().value(value) }
        return try result.value(at: index.map(place.inside) ?? place)
    }

    // MARK: - Edits

    /// Returns the change of a list. Throws when a position or a wrapper cannot be read.
    package func listEdit() throws(Problem) -> ListEdit {
        switch word {
        case "add": return .add(try read(value))
        case "insert":
            let (position, element) = try pair()
            return .insert(try index(position), try read(element, 1))
        case "set":
            let (position, element) = try pair()
            return .set(try index(position), try read(element, 1))
        case "remove": return .remove(try index(value))
        case "move":
            let (source, target) = try pair()
            return .move(try index(source), try index(target))
        case "swap":
            let (first, second) = try pair()
            return .swap(try index(first), try index(second))
        case "deleteAll": return .deleteAll
        default: return .clear
        }
    }

    /// Returns the change of a set. Throws when a wrapper cannot be read.
    package func setEdit() throws(Problem) -> SetEdit {
        switch word {
        case "insert": return .insert(try read(value))
        case "remove": return .remove(try read(value))
        case "union": return .union(try elements())
        case "intersect": return .intersect(try elements())
        case "minus": return .minus(try elements())
        default: return .clear
        }
    }

    /// Returns the elements that `union`, `intersect` and `minus` take.
    private func elements() throws(Problem) -> [InputValue] {
        guard case .list(let elements) = try read(value) else { throw invalid("'\(word)' takes an array") }
        return elements
    }

    /// Returns the change of a dictionary. Throws when the key is no string, or a wrapper cannot be read.
    package func dictionaryEdit() throws(Problem) -> DictionaryEdit {
        switch word {
        case "set":
            let (key, element) = try pair()
            guard let key = key.string else { throw invalid("the key of an entry must be a string") }
            return .set(key, try read(element, 1))
        case "remove":
            guard let key = value.string else { throw invalid("the key of an entry must be a string") }
            return .remove(key)
        default: return .clear
        }
    }

    /// Returns the place in the body of an error that the engine found in the element.
    ///
    /// - Parameter path: The path of the error inside the edit; an empty path means the step
    ///   as a whole. Pairs have their element at index 1.
    package func place(ofErrorAt path: InputPath) -> InputPlace {
        guard !path.steps.isEmpty else { return place }
        return isPair && ["insert", "set"].contains(word) ? place.inside(1) : place
    }
}
