// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmPlatform
internal import RealmStorage

/// Two versions with their classes in pairs.
final class ComparedRealms {
    let old: ComparedSide
    let new: ComparedSide
    let options: ComparisonOptions
    /// The classes of both versions in the order of their names.
    let classes: [ComparedClass]
    /// The classes by the keys of their tables in the earlier version.
    private let oldClasses: [TableKey: ComparedClass]
    /// The classes by the keys of their tables in the later version.
    private let newClasses: [TableKey: ComparedClass]
    /// The objects that are the same by their contents; nil before these are paired, and where none are.
    var matches: ContentMatches?

    /// Pairs the classes of two versions.
    ///
    /// - Parameter budget: The work that writing one object may take.
    init(_ old: ComparedVersion, _ new: ComparedVersion, _ options: ComparisonOptions, budget: WorkBudget) throws(Problem) {
        let (before, after) = (ComparedSide(old, budget), ComparedSide(new, budget))
        let names = Set((old.snapshot.classes + new.snapshot.classes).compactMap { $0.className.map { ByteText($0) } })
        var classes: [ComparedClass] = []
        for name in names.sorted().texts {
            let pair = (try before.objectClass(named: name), try after.objectClass(named: name))
            classes.append(ComparedClass(name, pair.0, pair.1, identity: options.identity))
        }
        self.old = before
        self.new = after
        self.options = options
        self.classes = classes
        oldClasses = ComparedRealms.byTable(classes) { $0.old?.table.key }
        newClasses = ComparedRealms.byTable(classes) { $0.new?.table.key }
        nameTargets()
    }

    /// Has links to objects that their object keys identify compared by these, also where one version has a primary key.
    private func nameTargets() {
        let names = Set(classes.lazy.filter { $0.identity == .objectKey }.map { ByteText($0.name) })
        let hasKey = classes.contains { one in
            names.contains(one.name) && (one.old?.table.primaryKey ?? one.new?.table.primaryKey) != nil
        }
        guard hasKey else { return }
        for side in [old, new] {
            side.compared.keyOfTarget = { table, key in names.contains(table.className ?? "") ? KeyText.text(key) : nil }
        }
    }

    private static func byTable(_ classes: [ComparedClass], _ key: (ComparedClass) -> TableKey?) -> [TableKey: ComparedClass] {
        Dictionary(classes.compactMap { one in key(one).map { ($0, one) } }, uniquingKeysWith: { first, _ in first })
    }

    /// Returns the class of a table of the earlier version.
    func oldClass(_ key: TableKey) -> ComparedClass? { oldClasses[key] }
    /// Returns the class of a table of the later version.
    func newClass(_ key: TableKey) -> ComparedClass? { newClasses[key] }
}
