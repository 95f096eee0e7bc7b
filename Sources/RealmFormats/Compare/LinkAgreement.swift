// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Finds out of which classes equal object keys in both versions are the same objects, so that equal bytes are equal links.
final class LinkAgreement {
    private let realms: ComparedRealms
    private let budget: WorkBudget
    /// Whether links of a class agree, by its name; false until that is decided.
    private var known: [ByteText: Bool] = [:]
    /// Whether links of all classes agree; nil until it is needed.
    private var isGeneral: Bool?

    init(_ realms: ComparedRealms, _ budget: WorkBudget) {
        self.realms = realms
        self.budget = budget
    }

    /// Returns whether equal bytes of a column in leaves of both versions are equal values.
    ///
    /// - Complexity: Linear in the leaves of the classes that are linked to, for the first property that links to them.
    func holds(_ property: ComparedProperty) throws(StorageError) -> Bool {
        guard property.hasSameLayout, let old = property.old?.column, let new = property.new?.column else { return false }
        switch old.type {
        case .mixed: return try general()
        case .link:
            guard let target = old.targetTable.flatMap({ realms.oldClass($0) }),
                let other = new.targetTable.flatMap({ realms.newClass($0) }), target === other
            else { return false }
            return try agrees(target)
        default: return true
        }
    }

    /// Returns whether links of all classes agree, as a link in Mixed may lead to each of them.
    private func general() throws(StorageError) -> Bool {
        if let isGeneral { return isGeneral }
        isGeneral = false
        guard realms.old.snapshot.scope == nil, realms.new.snapshot.scope == nil, realms.old.snapshot.part == nil,
            realms.new.snapshot.part == nil
        else { return false }
        for one in realms.classes where one.oldTable != nil || one.newTable != nil {
            guard one.old?.table.key == one.new?.table.key, try agrees(one) else { return false }
        }
        isGeneral = true
        return true
    }

    /// Returns whether objects of a class with equal keys are the same in both versions.
    private func agrees(_ target: ComparedClass) throws(StorageError) -> Bool {
        let name = ByteText(target.name)
        if let known = known[name] { return known }
        known[name] = false
        guard let old = target.old?.table, let new = target.new?.table, !realms.old.snapshot.mayHideObjects(of: old.key),
            !realms.new.snapshot.mayHideObjects(of: new.key), old.kind == new.kind
        else { return false }
        let isSame: Bool
        if old.kind == .embedded {
            isSame = try haveSameContents(target, old, new)
        } else {
            switch target.identity {
            case .objectKey: isSame = true
            case .contents: isSame = false
            case .primaryKey: isSame = try haveSamePrimaryKeys(old, new)
            }
        }
        known[name] = isSame
        return isSame
    }

    /// Returns whether nothing in an embedded class has changed.
    private func haveSameContents(_ target: ComparedClass, _ old: Table, _ new: Table) throws(StorageError) -> Bool {
        guard realms.options.sharesNodes, old.objects.root == new.objects.root else { return false }
        for property in target.properties where try !holds(property) { return false }
        return true
    }

    /// Returns whether each key that both versions have is that of objects with one primary key.
    private func haveSamePrimaryKeys(_ old: Table, _ new: Table) throws(StorageError) -> Bool {
        if realms.options.sharesNodes, old.objects.root == new.objects.root { return true }
        guard let oldColumn = old.primaryKey, let newColumn = new.primaryKey else { return false }
        var (left, right) = (try RowWalk(old), try RowWalk(new))
        while let before = left.row, let after = right.row {
            try budget.spend()
            if let leaf = left.wholeLeaf, let other = right.wholeLeaf, leaf.hasSameKeys(as: other),
                try SubtreeComparison(from: leaf.space, to: other.space, sharesNodes: realms.options.sharesNodes)
                    .areEqual(try leaf.ref(of: oldColumn), try other.ref(of: newColumn))
            {
                try left.skipLeaf()
                try right.skipLeaf()
                continue
            }
            if before.key == after.key, try !before.value(oldColumn).isIdentical(to: try after.value(newColumn)) { return false }
            if !after.key.isBefore(before.key) { try left.skip() }
            if !before.key.isBefore(after.key) { try right.skip() }
        }
        return true
    }
}
