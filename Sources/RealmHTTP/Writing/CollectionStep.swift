// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// Changes of collections as batches word them.
extension BatchOperation.CollectionStep {
    /// The words that collections of a kind take.
    static func words(_ kind: CollectionKind) -> [String] {
        switch kind {
        case .list: return ["add", "insert", "set", "remove", "move", "swap", "clear", "deleteAll"]
        case .set: return ["insert", "remove", "clear", "union", "intersect", "minus"]
        case .dictionary: return ["set", "remove", "clear"]
        }
    }

    /// Throws `invalid_body` when what stands with the word has another form than it needs.
    func check() throws(Problem) {
        switch word {
        case "insert" where isPair, "set" where isPair, "move", "swap": _ = try pair()
        case "clear", "deleteAll": guard value == .bool(true) else { throw invalid("'\(word)' takes true") }
        case "union", "intersect", "minus": guard value.array != nil else { throw invalid("'\(word)' takes an array") }
        default: break
        }
    }

    /// Whether it deletes objects, and not only takes them out.
    var deletesObjects: Bool { word == "deleteAll" }

    /// `insert` and `set` of lists take a place and a value, `set` of dictionaries a key and a value.
    private var isPair: Bool { collection != .set }

    private func invalid(_ detail: String) -> Problem { place.describe(Problem(.invalidBody, detail)) }

    private func pair() throws(Problem) -> (JSONValue, JSONValue) {
        guard let elements = value.array, elements.count == 2 else { throw invalid("'\(word)' takes an array of two") }
        return (elements[0], elements[1])
    }

    private func index(_ value: JSONValue) throws(Problem) -> Int {
        guard case .integer(let number) = value, number >= 0 else {
            throw invalid("a place in a list is a whole number of at least 0")
        }
        return Int(number)
    }

    private func read(_ value: JSONValue, _ index: Int? = nil) throws(Problem) -> InputValue {
        let result = Result { () throws(InputReader.Mistake) in try InputReader().value(value) }
        return try result.value(at: index.map(place.inside) ?? place)
    }

    // MARK: - Edits

    func listEdit() throws(Problem) -> ListEdit {
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

    func setEdit() throws(Problem) -> SetEdit {
        switch word {
        case "insert": return .insert(try read(value))
        case "remove": return .remove(try read(value))
        case "union": return .union(try elements())
        case "intersect": return .intersect(try elements())
        case "minus": return .minus(try elements())
        default: return .clear
        }
    }

    private func elements() throws(Problem) -> [InputValue] {
        guard case .list(let elements) = try read(value) else { throw invalid("'\(word)' takes an array") }
        return elements
    }

    func dictionaryEdit() throws(Problem) -> DictionaryEdit {
        switch word {
        case "set":
            let (key, element) = try pair()
            guard let key = key.string else { throw invalid("the key of an entry is a string") }
            return .set(key, try read(element, 1))
        case "remove":
            guard let key = value.string else { throw invalid("the key of an entry is a string") }
            return .remove(key)
        default: return .clear
        }
    }

    /// Where a mistake in the value is: pairs have it in second place.
    func place(ofErrorAt path: InputPath) -> InputPlace {
        guard !path.steps.isEmpty else { return place }
        return isPair && ["insert", "set"].contains(word) ? place.inside(1) : place
    }
}
