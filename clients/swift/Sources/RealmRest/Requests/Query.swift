/// Some rows of a result. `next` is the cursor of the following page, nil on the last one.
public struct Page<Element: Sendable>: Sendable {
    public let items: [Element]
    public let next: String?
    public let version: String
    public let count: Int?
}

/// Objects of a class. Each step answers a new query and leaves this one as it is.
public struct Query<Value: Decodable & Sendable>: Sendable {
    let realm: Realm
    let className: String
    var parts: [String: JSON] = [:]
    /// An argument that cannot be written; thrown when the query is used.
    var failure: (any Error)?

    init(realm: Realm, className: String) {
        self.realm = realm
        self.className = className
    }

    /// Only objects that match. Several conditions hold together; each counts its arguments from `$0`.
    public func `where`(_ text: String, _ arguments: any Encodable & Sendable...) -> Query {
        var query = self
        var known = parts["args"]?.elements ?? []
        let text = known.isEmpty ? text : renumbered(text, by: known.count)
        do { known += try arguments.map { try ValueEncoder.encode($0) } } catch { query.failure = error }
        let before = parts["where"]?.text
        query.parts["where"] = .string(before.map { "(\($0)) AND (\(text))" } ?? text)
        query.parts["args"] = .array(known)
        return query
    }

    /// Ordered by key paths; `-age` is descending.
    public func sort(_ paths: String...) -> Query { with("sort", paths) }
    public func distinct(_ paths: String...) -> Query { with("distinct", paths) }
    /// Only these properties; a dotted path crosses a link.
    public func fields(_ paths: String...) -> Query { with("fields", paths) }
    /// Objects in the place of these links.
    public func expand(_ paths: String...) -> Query { with("expand", paths) }
    /// In a live list only changes of these properties count as modifications.
    public func keyPaths(_ paths: String...) -> Query { with("keyPaths", paths) }

    /// Only the first rows of the result.
    public func limit(_ count: Int) -> Query {
        var query = self
        query.parts["limit"] = .number(String(count))
        return query
    }

    private func with(_ name: String, _ paths: [String]) -> Query {
        var query = self
        query.parts[name] = .array(paths.map(JSON.string))
        return query
    }

    // MARK: - Reading

    /// One page. `after` is the `next` of the page before.
    public func page(_ limit: Int = 100, after: String? = nil, count: Bool = false) async throws -> Page<Stored<Value>> {
        var body = readParts
        body["limit"] = .number(String(limit))
        if let after { body["after"] = .string(after) }
        if count { body["count"] = "exact" }
        let answer = try await post("/query/", body)
        return Page(
            items: try (answer["items"]?.elements ?? []).map { try Stored(json: $0) }, next: answer["next"]?.text,
            version: answer["version"]?.text ?? "", count: answer["count"]?.integer)
    }

    /// All objects. A result of more than a thousand is read in several pages; a snapshot shows one version of it.
    public func all() async throws -> [Stored<Value>] {
        var items: [Stored<Value>] = []
        var after: String?
        let most = parts["limit"]?.integer ?? .max
        repeat {
            let page = try await page(min(1000, most - items.count), after: after)
            items += page.items
            after = page.next
        } while after != nil && items.count < most
        return items
    }

    public func first() async throws -> Stored<Value>? { try await page(1).items.first }

    public func count() async throws -> Int { try await aggregate("count")["count"]?.integer ?? 0 }

    /// `count`, `min:age`, `max:age`, `sum:age`, `avg:age`: the answers by the same names, as JSON.
    public func aggregate(_ operations: String...) async throws -> JSON {
        var body = selection
        body["ops"] = .array(operations.map(JSON.string))
        return try await post("/aggregate/", body)
    }

    // MARK: - Writing

    /// Writes these values in every match, in one transaction; how many there were.
    @discardableResult
    public func update(_ values: [String: any Encodable & Sendable], maxAffected: Int? = nil) async throws -> Int {
        try await writeMatches("patchWhere", ["body": .object(values.mapValues { try ValueEncoder.encode($0) })], maxAffected)
    }

    /// Deletes every match, in one transaction; how many there were.
    @discardableResult
    public func delete(maxAffected: Int? = nil) async throws -> Int { try await writeMatches("deleteWhere", [:], maxAffected) }

    // MARK: - Following

    /// The result as a list that stays current.
    public func live(timeout: Double = 30) async throws -> LiveList<Stored<Value>> {
        if let failure { throw failure }
        return try await realm.live(
            .list(reading: row(Stored<Value>.self), difference: shownDifference), definition, timeout: timeout)
    }

    /// The change sets of the result; the first has its contents, as a reset.
    public func changes(timeout: Double = 30) async throws -> ResultChanges<Stored<Value>> {
        if let failure { throw failure }
        let (feed, first) = try await realm.follow(.list(reading: row(Stored<Value>.self)), definition, timeout: timeout)
        return ResultChanges(first: first, feed: feed)
    }

    private var definition: [String: JSON] { parts.merging(["class": .string(className)]) { own, _ in own } }

    private var readParts: [String: JSON] { parts.filter { !["keyPaths", "limit"].contains($0.key) } }

    /// The condition and its arguments. What concerns a whole selection has no parameters for the order, for what is distinct and for the
    /// limit, but all of them can stand in the text.
    private var selection: [String: JSON] {
        func paths(_ name: String) -> [String] { parts[name]?.elements.compactMap(\.text) ?? [] }
        var text = [parts["where"]?.text ?? "TRUEPREDICATE"]
        if parts["distinct"] != nil || parts["limit"] != nil {
            let order = paths("sort").map { $0.hasPrefix("-") ? $0.dropFirst() + " DESC" : $0 + " ASC" }
            if !order.isEmpty { text.append("SORT(\(order.joined(separator: ", ")))") }
            let distinct = paths("distinct")
            if !distinct.isEmpty { text.append("DISTINCT(\(distinct.joined(separator: ", ")))") }
            if let limit = parts["limit"]?.integer { text.append("LIMIT(\(limit))") }
        }
        return ["where": .string(text.joined(separator: " ")), "args": parts["args"] ?? []]
    }

    private func post(_ kind: String, _ body: [String: JSON]) async throws -> JSON {
        if let failure { throw failure }
        return try await realm.send("POST", kind + encoded(className), body: .object(body), safe: true).json()
    }

    private func writeMatches(_ operation: String, _ extra: [String: JSON], _ maximum: Int?) async throws -> Int {
        if let failure { throw failure }
        var body = selection.merging(extra) { own, _ in own }
        body["class"] = .string(className)
        body["maxAffected"] = maximum.map { .number(String($0)) }
        let entry = JSON.object([operation: .object(body)])
        let results = try await realm.batch { $0.operations.append(entry) }
        return results.first?["matched"]?.integer ?? 0
    }
}

/// The contents of a result as a first change set, and its changes after that.
public struct ResultChanges<Element: Sendable>: AsyncSequence, Sendable {
    let first: ChangeSet<Element>
    let feed: ChangeFeed<ChangeSet<Element>>

    public func makeAsyncIterator() -> Iterator { Iterator(first: first, feed: feed.makeAsyncIterator()) }

    public struct Iterator: AsyncIteratorProtocol, Sendable {
        var first: ChangeSet<Element>?
        var feed: ChangeFeed<ChangeSet<Element>>.Iterator

        public mutating func next() async throws -> ChangeSet<Element>? {
            if let change = first {
                first = nil
                return change
            }
            return try await feed.next()
        }
    }
}

/// A condition whose arguments count from another number. Texts are passed over: a dollar sign in one is no argument.
func renumbered(_ text: String, by shift: Int) -> String {
    var output = ""
    var quote: Character?
    var rest = text[...]
    while let character = rest.popFirst() {
        output.append(character)
        if let open = quote {
            if character == "\\", let escaped = rest.popFirst() { output.append(escaped) }
            if character == open { quote = nil }
        } else if character == "\"" || character == "'" {
            quote = character
        } else if character == "$" {
            // `$K0` stands for a key path.
            if rest.first == "K" { output.append(rest.removeFirst()) }
            let digits = rest.prefix { $0.isASCII && $0.isNumber }
            guard let number = Int(digits) else { continue }
            output += String(number + shift)
            rest = rest.dropFirst(digits.count)
        }
    }
    return output
}
