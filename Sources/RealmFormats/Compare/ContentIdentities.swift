// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmPlatform
internal import RealmStorage

/// Identifies the objects of one version by their contents.
///
/// Two objects of two versions have one identity if their values are equal, and their links lead to objects with one identity. So
/// the objects that have a partner form equal graphs. Objects in a circle of links are identified by their object keys and the
/// contents of the whole circle.
final class ContentIdentities {
    private let side: ComparedSide
    private let isOld: Bool
    private let budget: WorkBudget
    let nodes: ContentNodes
    /// The identities of the objects; those of later levels are not known yet.
    private(set) var identities: [ContentIdentity] = []
    private var levels: ContentLevels?
    /// The targets of the object that is being written, while levels are being found; nil otherwise.
    private var targets: Set<Int32>?
    /// The circle of the object that is being written.
    private var circle: Int32 = 0
    private let buffer = OutputBuffer()

    /// Identifies the objects of a version. Takes over how the side writes links for being compared.
    ///
    /// - Throws: An error of storage, or a limit when there are too many.
    init(_ realms: ComparedRealms, isOld: Bool, _ budget: WorkBudget) throws(StorageError) {
        self.isOld = isOld
        self.budget = budget
        side = isOld ? realms.old : realms.new
        nodes = try ContentNodes(
            realms.classes, budget, table: { isOld ? $0.oldTable : $0.newTable },
            target: { isOld ? realms.oldClass($0) : realms.newClass($0) })
        side.compared.keyOfTarget = { [unowned self] table, key in link(table.key, key) }
        let levels = try ContentLevels(nodes) { number throws(StorageError) in try targets(of: number) }
        self.levels = levels
        identities = Array(repeating: ContentIdentity([]), count: nodes.count)
        try identify(levels)
        self.levels = nil
    }

    /// Returns the text for the target of a link; nil for one with a primary key.
    private func link(_ table: TableKey, _ key: ObjectKey) -> String? {
        guard let number = nodes.number(table, key) else { return nil }
        if targets != nil {
            targets?.insert(Int32(number))
            return ""
        }
        if let levels, circle != 0, levels.circles[number] == circle { return KeyText.text(key) }
        return identities[number].text
    }

    /// Returns the objects that an object links to.
    private func targets(of number: Int) throws(StorageError) -> [Int32] {
        targets = []
        defer { targets = nil }
        _ = try contents(of: number)
        return (targets ?? []).sorted()
    }

    /// Returns the text of the contents of an object: all values but those of a property of one version alone that are default values.
    private func contents(of number: Int) throws(StorageError) -> [UInt8] {
        let (one, key) = nodes.object(number)
        try budget.spend(one.objectClass.properties.count)
        guard let row = try one.table.find(key) else { return [] }
        buffer.removeAll()
        budget.beginPart(at: 0)
        var writer = JSONWriter(buffer)
        writer.beginObject()
        writer.member("$class", text: one.objectClass.name)
        for property in one.objectClass.properties {
            guard let value = isOld ? property.old : property.new else { continue }
            if property.old == nil || property.new == nil, try value.isDefault(row, in: side.snapshot) { continue }
            writer.key(property.name)
            try side.compared.writeValue(of: value.compared, row, to: &writer)
        }
        writer.endObject()
        return writer.bytes
    }

    // MARK: - Levels

    /// The digest of an object before its rank is known.
    private struct Digest {
        let contents: ContentIdentity
        let number: Int
    }

    /// Identifies all objects, level by level.
    private func identify(_ levels: ContentLevels) throws(StorageError) {
        let order = (0..<nodes.count).sorted { (levels.levels[$0], $0) < (levels.levels[$1], $1) }
        var start = 0
        while start < order.count {
            var end = start
            while end < order.count, levels.levels[order[end]] == levels.levels[order[start]] { end += 1 }
            try identify(order[start..<end], levels)
            start = end
        }
    }

    /// Identifies the objects of one level.
    private func identify(_ numbers: ArraySlice<Int>, _ levels: ContentLevels) throws(StorageError) {
        var single: [Digest] = []
        var circles: [Int32: [Digest]] = [:]
        for number in numbers {
            circle = levels.circles[number]
            let digest = Digest(contents: ContentIdentity(try contents(of: number)), number: number)
            if circle == 0 { single.append(digest) } else { circles[circle, default: []].append(digest) }
        }
        circle = 0
        for members in circles.values { identify(circle: members) }
        // The rank among equal objects makes each identity one of a single object.
        single.sort { ($0.contents, $0.number) < ($1.contents, $1.number) }
        var rank = 0
        for (position, one) in single.enumerated() {
            rank = position > 0 && single[position - 1].contents == one.contents ? rank + 1 : 0
            identities[one.number] = rank == 0 ? one.contents : ContentIdentity(one.contents.bytes + Array("#\(rank)".utf8))
        }
    }

    /// Identifies the objects of a circle by the contents of all of them, and each by its key.
    private func identify(circle members: [Digest]) {
        var text: [UInt8] = []
        for member in members { text += member.contents.bytes + key(of: member.number) }
        let whole = ContentIdentity(text)
        for member in members { identities[member.number] = ContentIdentity(whole.bytes + key(of: member.number)) }
    }

    private func key(of number: Int) -> [UInt8] {
        let (one, key) = nodes.object(number)
        return Array(" \(one.objectClass.name) \(KeyText.text(key));".utf8)
    }
}
