// SPDX-License-Identifier: Apache-2.0

/// What a property of a tracked object holds. Links name objects by their number in the model, so that one which goes
/// takes its links along without being looked for.
package indirect enum WorkloadValue: Sendable {
    /// Anything that is neither a collection nor a link, as the interface writes it; wrappers of Mixed too.
    case plain(ParsedJSON)
    /// A list, or a set in any order.
    case list([WorkloadValue])
    /// A dictionary or an embedded object.
    case entries([String: WorkloadValue])
    case link(Int)

    package static let null = WorkloadValue.plain(.null)

    package var isNull: Bool {
        if case .plain(.null) = self { return true }
        return false
    }

    package var list: [WorkloadValue]? {
        if case .list(let elements) = self { return elements }
        return nil
    }

    package var entries: [String: WorkloadValue]? {
        if case .entries(let entries) = self { return entries }
        return nil
    }

    package var plain: ParsedJSON? {
        if case .plain(let json) = self { return json }
        return nil
    }

    package static func integer(_ number: Int64) -> WorkloadValue { .plain(.integer(number)) }
    package static func text(_ text: String) -> WorkloadValue { .plain(.string(text)) }
    package static func real(_ number: Double) -> WorkloadValue { .plain(.real(number)) }

    /// A step into collections inside each other.
    package enum Step: Sendable {
        case index(Int)
        case name(String)
    }

    /// The value at a path.
    package subscript(path path: ArraySlice<Step>) -> WorkloadValue? {
        guard let first = path.first else { return self }
        switch (first, self) {
        case (.index(let index), .list(let elements)):
            return elements.indices.contains(index) ? elements[index][path: path.dropFirst()] : nil
        case (.name(let name), .entries(let entries)): return entries[name]?[path: path.dropFirst()]
        default: return nil
        }
    }

    /// Replaces what is at a path.
    package mutating func change(at path: ArraySlice<Step>, _ body: (inout WorkloadValue) -> Void) {
        guard let first = path.first else { return body(&self) }
        switch (first, self) {
        case (.index(let index), .list(var elements)) where elements.indices.contains(index):
            elements[index].change(at: path.dropFirst(), body)
            self = .list(elements)
        case (.name(let name), .entries(var entries)):
            entries[name]?.change(at: path.dropFirst(), body)
            self = .entries(entries)
        default: break
        }
    }
}
