// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmPlatform
internal import RealmStorage

/// The objects of two versions that are the same by their contents, in pairs.
final class ContentMatches {
    private let old: ContentIdentities
    private let new: ContentIdentities
    /// Whether an object of the earlier version has a partner, by its number.
    private var isOldMatched: [Bool]
    /// The partner of each object of the later version, or -1 for none.
    private var partners: [Int32]
    /// The objects that links in the present value lead to, while it is written.
    private var noted: [(table: TableKey, key: ObjectKey)] = []
    private var isNoting = false

    /// Pairs the objects of two versions.
    ///
    /// - Throws: An error of storage, or a limit when there are too many.
    init(_ realms: ComparedRealms, _ budget: WorkBudget) throws(StorageError) {
        old = try ContentIdentities(realms, isOld: true, budget)
        new = try ContentIdentities(realms, isOld: false, budget)
        isOldMatched = Array(repeating: false, count: old.nodes.count)
        partners = Array(repeating: -1, count: new.nodes.count)
        pair()
        realms.new.shown.keyOfTarget = { [unowned self] table, key in
            if isNoting { noted.append((table.key, key)) }
            return nil
        }
    }

    /// Pairs objects with one identity. Identities are those of single objects in their version.
    private func pair() {
        let before = old.identities.indices.sorted { old.identities[$0] < old.identities[$1] }
        let after = new.identities.indices.sorted { new.identities[$0] < new.identities[$1] }
        var (left, right) = (0, 0)
        while left < before.count, right < after.count {
            let (one, other) = (old.identities[before[left]], new.identities[after[right]])
            if one == other {
                isOldMatched[before[left]] = true
                partners[after[right]] = Int32(before[left])
            }
            if !(other < one) { left += 1 }
            if !(one < other) { right += 1 }
        }
    }

    /// Returns whether the later version has an object of the earlier one.
    func isMatchedInOld(_ one: ComparedClass, _ key: ObjectKey) -> Bool {
        guard let table = one.oldTable, let number = old.nodes.number(table.key, key) else { return false }
        return isOldMatched[number]
    }

    /// Returns whether the earlier version has an object of the later one.
    func isMatchedInNew(_ one: ComparedClass, _ key: ObjectKey) -> Bool {
        guard let table = one.newTable, let number = new.nodes.number(table.key, key) else { return false }
        return partners[number] >= 0
    }

    // MARK: - Keys of both versions

    /// Forgets the links that were written before, and remembers those that are written from now on.
    func beginNoting() {
        noted.removeAll(keepingCapacity: true)
        isNoting = true
    }

    /// Writes the objects that the links of the later version lead to and that have another key in the earlier one, as the member
    /// `same`: by class, the later key with the earlier one. Nothing where there are none.
    func writeNoted(to writer: inout JSONWriter) {
        isNoting = false
        var keys: [ByteText: [ObjectKey: ObjectKey]] = [:]
        for (table, key) in noted {
            guard let number = new.nodes.number(table, key), partners[number] >= 0 else { continue }
            let (one, earlier) = old.nodes.object(Int(partners[number]))
            if earlier != key { keys[ByteText(one.objectClass.name), default: [:]][key] = earlier }
        }
        guard !keys.isEmpty else { return }
        writer.key("same")
        writer.beginObject()
        for (name, pairs) in keys.sorted(by: { $0.key < $1.key }) {
            writer.key(name.text)
            writer.beginObject()
            for (later, earlier) in pairs.sorted(by: { $0.key.isBefore($1.key) }) {
                writer.key(KeyText.text(later))
                writer.string(KeyText.text(earlier))
            }
            writer.endObject()
        }
        writer.endObject()
    }
}
