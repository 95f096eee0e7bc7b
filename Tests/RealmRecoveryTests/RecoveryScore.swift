// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
import RealmTestSupport

/// Compares what a recovery printed with every state that a file ever had.
struct RecoveryScore {
    /// Values that never were, values that never were together and are not marked, wrong versions and wrong certainties.
    private(set) var faults: [String] = []
    /// The shares that were found, by the names that `floors.json` has.
    private(set) var recalls: [ByteText: Double] = [:]

    /// An object.
    private struct Identity: Hashable {
        let className: ByteText
        let key: ByteText
    }

    /// A value that an object once had.
    private struct OnceValue: Hashable {
        let identity: Identity
        let property: ByteText
        let value: ByteText
    }

    /// A state of the truth.
    private struct State {
        let identity: Identity
        let objectKey: Int64?
        let values: [ByteText: ByteText]
        let versions: ClosedRange<Int64>?
        let isCurrent: Bool
        /// Whether the leaf of its row is whole.
        let hasLeaf: Bool
        /// The properties whose bytes are all there.
        let linked: Set<ByteText>
        var isKept: Bool { hasLeaf && linked.count == values.count }
    }

    /// A line of the recovery.
    private struct Line {
        let text: String
        let className: ByteText
        var key: ByteText?
        let objectKey: Int64?
        var values: [ByteText: ByteText]
        let unproven: Set<ByteText>
        let versions: [Int64]
        let certainty: String
    }

    private let states: [State]
    private var found: [Identity: [[ByteText: ByteText]]] = [:]

    /// Compares lines with the truth.
    init(truth: [ParsedJSON], lines: [ParsedJSON]) {
        states = truth.map { state in
            let range = state["from"]?.int.flatMap { from in state["to"]?.int.map { from...max(from, $0) } }
            return State(
                identity: Identity(className: ByteText(state["class"]?.text ?? ""), key: ByteText(state["key"]?.text ?? "")),
                objectKey: state["objectKey"]?.int, values: RecoveryScore.values(state["values"]), versions: range,
                isCurrent: state["current"] == .bool(true), hasLeaf: state["leaf"] == .bool(true),
                linked: Set(state["linked"]?.list.map { ByteText($0.text) } ?? []))
        }
        for line in lines where line["class"] != nil && line["kind"]?.text != "present" && line["kind"]?.text != "unfinished" {
            check(
                Line(
                    text: line.description, className: ByteText(line["class"]?.text ?? ""),
                    key: line["key"]?.string.map { ByteText($0) },
                    objectKey: line["objectKey"]?.int, values: RecoveryScore.values(line["values"]),
                    unproven: Set(line["unproven"]?.list.map { ByteText($0.text) } ?? []),
                    versions: line["versions"]?.list.compactMap(\.int) ?? [], certainty: line["certainty"]?.text ?? ""))
        }
        count()
    }

    // MARK: - Lines

    private mutating func check(_ line: Line) {
        guard !line.values.keys.contains(where: { $0.text.hasPrefix("@") }) else { return checkInferred(line) }
        var key = line.key
        if key == nil, let number = line.objectKey {
            key = states.first { $0.identity.className == line.className && $0.objectKey == number }?.identity.key
        }
        let pool = states.filter { $0.identity.className == line.className && (key == nil || $0.identity.key == key) }
        guard !pool.isEmpty else { return faults.append("invented object: \(line.text)") }
        guard let key else {
            guard let state = pool.first(where: { RecoveryScore.misfits(line, $0).isEmpty }) else {
                return faults.append("invented, no state fits: \(line.text)")
            }
            found[state.identity, default: []].append(line.values)
            return
        }
        for (property, value) in line.values where !pool.contains(where: { $0.values[property] == value }) {
            return faults.append("invented \(property): \(line.text)")
        }
        found[Identity(className: line.className, key: key), default: []].append(line.values)
        let misfits = pool.map { RecoveryScore.misfits(line, $0) }
        guard !misfits.contains([]) else { return checkVersions(line, pool) }
        if !misfits.contains(where: { $0.isSubset(of: line.unproven) }) { faults.append("mixed: \(line.text)") }
    }

    private mutating func checkVersions(_ line: Line, _ pool: [State]) {
        for version in line.versions {
            guard let then = pool.first(where: { $0.versions?.contains(version) ?? false }) else {
                return faults.append("no such object in version \(version): \(line.text)")
            }
            guard RecoveryScore.misfits(line, then).isSubset(of: line.unproven) else {
                return faults.append("other values in version \(version): \(line.text)")
            }
            if line.certainty == "A", then.values != line.values { return faults.append("wrong certainty: \(line.text)") }
        }
        if line.certainty == "A", line.versions.isEmpty { faults.append("certainty without a version: \(line.text)") }
    }

    /// A line whose names are gone has to have values that stood together in some state.
    private mutating func checkInferred(_ line: Line) {
        let ofClass = states.filter { $0.identity.className == line.className }
        for state in ofClass.isEmpty ? states : ofClass {
            var named: [ByteText: ByteText] = [:]
            let fits = line.values.values.allSatisfy { value in
                let property = state.values.first { property, known in
                    named[property] == nil && (known == value || ["true": "1", "false": "0"][known] == value)
                }
                if let property { named[property.key] = property.value }
                return property != nil
            }
            if fits { return found[state.identity, default: []].append(named) }
        }
        faults.append("invented, without names: \(line.text)")
    }

    private static func misfits(_ line: Line, _ state: State) -> Set<ByteText> {
        Set(line.values.filter { state.values[$0.key] != $0.value }.keys)
    }

    // MARK: - Shares

    private mutating func count() {
        var now: [Identity: [ByteText: ByteText]] = [:]
        for state in states where state.isCurrent { now[state.identity] = state.values }
        var (all, hits, kept, keptHits) = (0, 0, 0, 0)
        var values: [OnceValue: Bool] = [:]
        var linkedValues: [OnceValue: Bool] = [:]
        for state in states where !state.isCurrent {
            let lines = found[state.identity] ?? []
            let isFound = lines.contains { line in state.values.allSatisfy { line[$0.key] == $0.value } }
            all += 1
            hits += isFound ? 1 : 0
            kept += state.isKept ? 1 : 0
            keptHits += state.isKept && isFound ? 1 : 0
            for (property, value) in state.values where now[state.identity]?[property] != value {
                let once = OnceValue(identity: state.identity, property: property, value: value)
                let isHit = lines.contains { $0[property] == value }
                values[once] = isHit
                if state.linked.contains(property) { linkedValues[once] = isHit }
            }
        }
        recalls["recallStates"] = RecoveryScore.share(hits, all)
        recalls["recallStatesOfKept"] = RecoveryScore.share(keptHits, kept)
        recalls["recallValues"] = RecoveryScore.share(values.values.count { $0 }, values.count)
        recalls["recallValuesOfKept"] = RecoveryScore.share(linkedValues.values.count { $0 }, linkedValues.count)
    }

    /// A share as the floors have it, with four decimals.
    private static func share(_ part: Int, _ all: Int) -> Double {
        all == 0 ? 0 : (Double(part) / Double(all) * 10_000).rounded() / 10_000
    }

    // MARK: - Values

    private static func values(_ object: ParsedJSON?) -> [ByteText: ByteText] {
        guard case .object(let members) = object else { return [:] }
        return Dictionary(members.map { (ByteText($0.name), ByteText(canonical($0.value))) }, uniquingKeysWith: { $1 })
    }

    /// A text that is the same for values that are equal: whole numbers without a fraction, members sorted by name.
    private static func canonical(_ value: ParsedJSON) -> String {
        switch value {
        case .null: return "null"
        case .bool(let flag): return flag ? "true" : "false"
        case .integer(let number): return String(number)
        case .number(let text):
            guard let number = Double(text) else { return text }
            return number == number.rounded() && number.magnitude < 1e15 ? String(Int64(number)) : "\(number)"
        case .string(let text): return "\"\(text)\""
        case .array(let elements): return "[" + elements.map(canonical).joined(separator: ",") + "]"
        case .object(let members):
            let sorted = members.sorted { ByteText($0.name) < ByteText($1.name) }
            return "{" + sorted.map { "\"\($0.name)\":" + canonical($0.value) }.joined(separator: ",") + "}"
        }
    }
}

extension ParsedJSON {
    /// A whole number; nil for another value.
    fileprivate var int: Int64? { if case .integer(let number) = self { number } else { nil } }
    /// A text; nil for another value.
    fileprivate var string: String? { if case .string(let text) = self { text } else { nil } }
    /// A text; empty for another value.
    fileprivate var text: String { string ?? "" }
    /// The elements of an array; none for another value.
    fileprivate var list: [ParsedJSON] { if case .array(let elements) = self { elements } else { [] } }
}
