// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// A value of a YAML text, with the line where it stands.
struct YAMLNode {
    indirect enum Content {
        /// A single value; a plain one has no quotes.
        case scalar(String, isPlain: Bool)
        case list([YAMLNode])
        /// Names with values, in the order of the text; a name may be any value.
        case object([(name: YAMLNode, value: YAMLNode)])
    }

    let content: Content
    /// The line where it starts, from 1.
    let line: Int

    /// The text of a single value; nil for any other.
    var text: String? {
        guard case .scalar(let text, _) = content else { return nil }
        return text
    }

    /// Reads a text.
    ///
    /// - Parameter text: The text, with one document at most.
    /// - Returns: The value; nil for a text without any.
    /// - Throws: `ConfigurationError` for text that is not YAML, or states a name twice in one place.
    static func read(_ text: String) throws(ConfigurationError) -> YAMLNode? {
        var composer = Composer(try YAMLEvents(text))
        guard let root = try composer.root() else { return nil }
        if let line = try composer.lineOfMore() {
            throw ConfigurationError(line: line, text: "this is not YAML: but found another document")
        }
        return root
    }

    /// Puts the pieces of a text together.
    private struct Composer {
        /// The pieces.
        private let events: YAMLEvents
        /// The values that have a name for using them again, by that name.
        private var anchors: [ByteText: YAMLNode] = [:]

        /// Begins at the start of the text.
        init(_ events: YAMLEvents) { self.events = events }

        /// Returns the next piece that has a content, or the end.
        private func next() throws(ConfigurationError) -> YAMLEvents.Event {
            var event = try events.next()
            while event.kind == .mark { event = try events.next() }
            return event
        }

        /// Returns the first value of the text; nil when there is none.
        mutating func root() throws(ConfigurationError) -> YAMLNode? {
            let event = try next()
            return event.kind == .end ? nil : try node(event)
        }

        /// Returns the line of the text after the first value; nil at the end.
        func lineOfMore() throws(ConfigurationError) -> Int? {
            let event = try next()
            return event.kind == .end ? nil : event.line
        }

        /// Returns the value that begins with a piece.
        private mutating func node(_ event: YAMLEvents.Event) throws(ConfigurationError) -> YAMLNode {
            let content: Content
            switch event.kind {
            case .scalar(let text, let isPlain): content = .scalar(text, isPlain: isPlain)
            case .listStart: content = .list(try list())
            case .objectStart: content = .object(try members())
            case .alias(let name):
                guard let node = anchors[name] else {
                    throw ConfigurationError(line: event.line, text: "this is not YAML: found undefined alias")
                }
                return node
            case .listEnd, .objectEnd, .end, .mark:
                throw ConfigurationError(line: event.line, text: "this is not YAML")
            }
            let node = YAMLNode(content: content, line: event.line)
            if let name = event.anchor { anchors[name] = node }
            return node
        }

        /// Returns the elements of a list up to its end.
        private mutating func list() throws(ConfigurationError) -> [YAMLNode] {
            var elements: [YAMLNode] = []
            while true {
                let event = try next()
                if event.kind == .listEnd { return elements }
                elements.append(try node(event))
            }
        }

        /// Returns names with values up to the end of them.
        private mutating func members() throws(ConfigurationError) -> [(name: YAMLNode, value: YAMLNode)] {
            var members: [(name: YAMLNode, value: YAMLNode)] = []
            var lines: [ByteText: Int] = [:]
            var repeated: ConfigurationError?
            while true {
                let event = try next()
                if event.kind == .objectEnd { break }
                let name = try node(event)
                members.append((name, try node(try next())))
                guard let text = name.text else { continue }
                if let line = lines[text] {
                    repeated = repeated ?? ConfigurationError(line: line, text: "'\(text)' is stated twice here")
                }
                lines[text] = lines[text] ?? name.line
            }
            if let repeated { throw repeated }
            return members
        }
    }
}
