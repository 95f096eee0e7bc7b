// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
import RealmStorage

@testable import RealmRecovery

/// The whole past of a file, kept while it was made, and what a recovery got wrong about it.
struct HistoryTruth {
    /// An object.
    struct Identity: Hashable {
        let className: ByteText
        let key: ByteText
    }

    /// The values of an object by the names of its properties.
    typealias Values = [ByteText: [UInt8]]

    /// The objects of each version.
    private(set) var versions: [UInt64: [Identity: Values]] = [:]
    /// The keys of objects by the keys in their tables.
    private var keys: [Identity: ByteText] = [:]
    /// The newest version.
    private(set) var newest: UInt64 = 0

    /// Notes the present version of a file.
    mutating func note(_ file: EvidenceFile, version: UInt64, clusterShift: Int) throws {
        var options = Recovery.Options()
        options.includesPresent = true
        options.clusterShift = clusterShift
        var objects: [Identity: Values] = [:]
        for line in try Recovery(file, options).lines where line.kind == .present {
            guard let key = line.key else { throw Wrong(text: "a present object without a key") }
            let identity = Identity(className: ByteText(line.className), key: ByteText(key))
            guard line.losses.isEmpty else { throw Wrong(text: "a present object with losses: \(line.losses)") }
            objects[identity] = HistoryTruth.values(of: line)
            if let number = line.objectKey {
                keys[Identity(className: identity.className, key: ByteText("#\(number)"))] = identity.key
            }
        }
        versions[version] = objects
        newest = max(newest, version)
    }

    /// The past of the same file without its newest version, which a commit that was cut short would have made.
    func withoutNewest() -> HistoryTruth {
        var truth = self
        truth.versions[newest] = nil
        truth.newest = newest - 1
        return truth
    }

    struct Wrong: Error, CustomStringConvertible {
        let text: String
        var description: String { text }
    }

    /// The values of a line.
    static func values(of line: RecoveredLine) -> Values {
        var values: Values = [:]
        for index in line.best.leaf.columns.indices {
            if let value = line.best.value(at: index) { values[ByteText(line.best.leaf.columns[index].name)] = Array(value) }
        }
        return values
    }

    // MARK: - Faults

    /// What a recovery got wrong: values that never were, values that never were together and are not marked, wrong versions,
    /// wrong kinds and
    /// wrong certainties.
    func faults(of recovery: Recovery) -> [String] {
        recovery.lines.filter { $0.kind != .present && $0.kind != .unfinished }.compactMap { line in
            fault(of: line).map { "\($0): \(String(decoding: line.json(id: "", hasEvidence: true), as: UTF8.self))" }
        }
    }

    private func fault(of line: RecoveredLine) -> String? {
        let values = HistoryTruth.values(of: line)
        let name = ByteText(line.className)
        var key = line.key.map { ByteText($0) }
        if key == nil, let number = line.objectKey { key = keys[Identity(className: name, key: ByteText("#\(number)"))] }
        guard let key else {
            let fits = versions.values.contains { objects in
                objects.contains { $0.key.className == name && HistoryTruth.misfits(values, $0.value).isEmpty }
            }
            return fits ? nil : "invented: no object ever had these values"
        }
        let identity = Identity(className: name, key: key)
        let states = versions.values.compactMap { $0[identity] }
        guard !states.isEmpty else { return "invented: there never was such an object" }
        for (property, value) in values where !states.contains(where: { $0[property] == value }) {
            return "invented: the object never had this \(property)"
        }
        let open = Set(line.unproven.map { ByteText($0) })
        guard states.contains(where: { HistoryTruth.misfits(values, $0).isSubset(of: open) }) else { return "mixed" }
        for version in line.versions {
            guard let then = versions[version]?[identity] else { return "misdated: no such object in version \(version)" }
            if !HistoryTruth.misfits(values, then).isSubset(of: open) { return "misdated: other values in version \(version)" }
        }
        if line.certainty == .a {
            guard line.versions.allSatisfy({ versions[$0]?[identity] == values }), !line.versions.isEmpty, open.isEmpty else {
                return "wrong certainty"
            }
        }
        let livesNow = versions[newest]?[identity] != nil
        if line.kind == .deleted, livesNow { return "wrong kind: the object lives" }
        if line.kind == .changed, !livesNow { return "wrong kind: the object lives no more" }
        return nil
    }

    /// The properties whose values differ.
    private static func misfits(_ values: Values, _ state: Values) -> Set<ByteText> {
        Set(values.filter { state[$0.key] != $0.value }.keys)
    }

    // MARK: - What has to be found

    /// The objects of the version before the newest one whose states are not among the lines of certainty A.
    func missing(in recovery: Recovery) -> [String] {
        guard let before = versions[newest - 1], let now = versions[newest] else { return [] }
        var found: [Identity: [Values]] = [:]
        for line in recovery.lines where line.certainty == .a && line.versions.contains(newest - 1) {
            guard let key = line.key else { continue }
            found[Identity(className: ByteText(line.className), key: ByteText(key)), default: []].append(
                HistoryTruth.values(of: line))
        }
        return before.filter { now[$0.key] != $0.value && found[$0.key]?.contains($0.value) != true }.map { "\($0.key)" }.sorted()
    }

    /// The share of former states that were found whole.
    func recall(of recovery: Recovery) -> (found: Int, all: Int) {
        var found: [Identity: [Values]] = [:]
        for line in recovery.lines where line.kind != .present && line.kind != .unfinished {
            guard let key = line.key else { continue }
            found[Identity(className: ByteText(line.className), key: ByteText(key)), default: []].append(
                HistoryTruth.values(of: line))
        }
        var states: [Identity: [Values]] = [:]
        for (version, objects) in versions where version != newest {
            for (identity, values) in objects
            where versions[newest]?[identity] != values && states[identity]?.contains(values) != true {
                states[identity, default: []].append(values)
            }
        }
        let all = states.values.reduce(0) { $0 + $1.count }
        let hits = states.reduce(0) { sum, entry in sum + entry.value.count { found[entry.key]?.contains($0) == true } }
        return (hits, all)
    }
}
