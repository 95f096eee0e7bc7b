// SPDX-License-Identifier: Apache-2.0

internal import CYAML
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The pieces of a YAML text in their order. It is the whole bridge to libyaml.
///
/// libyaml keeps the addresses of its own state and of the text from call to call, so both are in separately allocated memory.
@safe final class YAMLEvents {
    /// One piece of the text.
    struct Event {
        let kind: Kind
        /// The line where it starts, from 1.
        let line: Int
        /// The name under which it can be used again; nil for none.
        let anchor: String?
    }

    /// The kinds of pieces.
    enum Kind: Equatable {
        /// A single value; a plain one has no quotes.
        case scalar(String, isPlain: Bool)
        /// The use of an earlier value by its anchor.
        case alias(String)
        case listStart
        case listEnd
        case objectStart
        case objectEnd
        /// The end of the text.
        case end
        /// A piece without content: the start or end of a document or of the text.
        case mark
    }

    /// The state of libyaml.
    private let parser: UnsafeMutablePointer<yaml_parser_t>
    /// The text.
    private let input: UnsafeMutableBufferPointer<UInt8>

    /// Begins at the start of a text.
    ///
    /// - Throws: `ConfigurationError` when there is no memory.
    init(_ text: String) throws(ConfigurationError) {
        let bytes = Array(text.utf8)
        unsafe input = .allocate(capacity: bytes.count)
        _ = unsafe input.initialize(from: bytes)
        unsafe parser = .allocate(capacity: 1)
        unsafe parser.initialize(to: yaml_parser_t())
        guard unsafe yaml_parser_initialize(parser) == 1 else { throw failure() }
        unsafe yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
        unsafe yaml_parser_set_input_string(parser, input.baseAddress, input.count)
    }

    deinit {
        unsafe yaml_parser_delete(parser)
        unsafe parser.deallocate()
        unsafe input.deallocate()
    }

    /// Returns the next piece. After the end of the text there is none to ask for.
    ///
    /// - Throws: `ConfigurationError` where the text is not YAML.
    func next() throws(ConfigurationError) -> Event {
        var event = unsafe yaml_event_t()
        guard unsafe yaml_parser_parse(parser, &event) == 1 else { throw failure() }
        defer { unsafe yaml_event_delete(&event) }
        let (kind, anchor) = unsafe YAMLEvents.content(event)
        return Event(kind: kind, line: Int(unsafe event.start_mark.line) + 1, anchor: anchor)
    }

    /// Copies the content of a piece, which libyaml frees afterwards.
    private static func content(_ event: yaml_event_t) -> (Kind, anchor: String?) {
        switch unsafe event.type {
        case YAML_SCALAR_EVENT:
            let scalar = unsafe event.data.scalar
            let bytes = unsafe UnsafeBufferPointer(start: scalar.value, count: scalar.length)
            let isPlain = unsafe scalar.style == YAML_PLAIN_SCALAR_STYLE
            return unsafe (.scalar(String(decoding: bytes, as: UTF8.self), isPlain: isPlain), name(scalar.anchor))
        case YAML_ALIAS_EVENT: return (.alias(unsafe name(event.data.alias.anchor) ?? ""), nil)
        case YAML_SEQUENCE_START_EVENT: return (.listStart, unsafe name(event.data.sequence_start.anchor))
        case YAML_SEQUENCE_END_EVENT: return (.listEnd, nil)
        case YAML_MAPPING_START_EVENT: return (.objectStart, unsafe name(event.data.mapping_start.anchor))
        case YAML_MAPPING_END_EVENT: return (.objectEnd, nil)
        case YAML_STREAM_END_EVENT: return (.end, nil)
        default: return (.mark, nil)
        }
    }

    /// Copies a name; nil for none.
    private static func name(_ text: UnsafeMutablePointer<yaml_char_t>?) -> String? {
        unsafe text.map { unsafe String(cString: $0) }
    }

    /// Returns the reason why libyaml cannot continue.
    private func failure() -> ConfigurationError {
        guard let problem = unsafe parser.pointee.problem else { return ConfigurationError(text: "this is not YAML") }
        // Of bytes that are no text libyaml knows no line.
        let hasLine = unsafe parser.pointee.error != YAML_READER_ERROR
        let line = hasLine ? Int(unsafe parser.pointee.problem_mark.line) + 1 : nil
        return ConfigurationError(line: line, text: "this is not YAML: \(unsafe String(cString: problem))")
    }
}
