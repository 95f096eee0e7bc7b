// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Quick proofs that a column of a leaf is sound. They do not report anything but numbers of links.
extension LeafWalk {
    /// Returns whether it is proved that there is nothing to report about one column of a leaf; its links are added then.
    ///
    /// - Parameters:
    ///   - column: The column, of values or of collections.
    ///   - leaf: The cluster leaf, of objects or of tombstones.
    func prove(
        _ column: Column, in leaf: ClusterLeaf, _ links: inout LinkCheck, _ report: inout VerifyReport
    ) -> Bool {
        do throws(StorageError) {
            switch column.collection {
            case .list?, .set?: return try proveLists(column, in: leaf, &links, &report)
            case .dictionary?: return try proveDictionaries(column, in: leaf)
            case nil: break
            }
            let values = try leaf.attach(column)
            guard case .link(let targets) = values else { return LeafProof(isNullable: column.isNullable).proves(values) }
            guard links.targetsExist(targets) else { return false }
            links.add(targets, of: leaf, in: (table.key, column.leafIndex), &report)
            return true
        } catch { return false }
    }

    /// Returns whether it is proved that there is nothing to report about the lists or sets of one
    /// column of a leaf, which are all short; their links are added then.
    private func proveLists(
        _ column: Column, in leaf: ClusterLeaf, _ links: inout LinkCheck, _ report: inout VerifyReport
    ) throws(StorageError) -> Bool {
        let (roots, shape) = (try leaf.attachRefs(column), column.elementShape)
        let proof = LeafProof(isNullable: column.isNullable)
        for row in 0..<leaf.count {
            let raw = try roots.rawSlot(row)
            guard raw != 0 else { continue }
            guard raw & 1 == 0, let elements = try shortList(Ref(raw), shape) else { return false }
            if case .link(let targets) = elements {
                guard links.targetsExist(targets) else { return false }
            } else if !proof.proves(elements) {
                return false
            }
            if column.collection == .set, try !CellCheck.ascends(elements, shape) { return false }
        }
        guard column.type == .link else { return true }
        for row in 0..<leaf.count {
            let raw = try roots.rawSlot(row)
            guard raw != 0, case .link(let targets)? = try shortList(Ref(raw), shape) else { continue }
            links.add(targets, in: leaf.key(at: row), (table.key, column.leafIndex), &report)
        }
        return true
    }

    /// Returns whether it is proved that there is nothing to report about the dictionaries of one
    /// column of a leaf, which are all short, have texts as keys, and hold no links.
    private func proveDictionaries(_ column: Column, in leaf: ClusterLeaf) throws(StorageError) -> Bool {
        guard column.dictionaryKeyType == .string else { return false }
        let roots = try leaf.attachRefs(column)
        for row in 0..<leaf.count {
            let raw = try roots.rawSlot(row)
            guard raw != 0 else { continue }
            guard raw & 1 == 0, try proveDictionary(Ref(raw)) else { return false }
        }
        return true
    }

    /// Returns whether it is proved that there is nothing to report about a dictionary.
    private func proveDictionary(_ root: Ref) throws(StorageError) -> Bool {
        let node = try snapshot.space.node(at: root)
        guard !DictionaryView.isHistoric(node, fileFormat: snapshot.fileFormat) else { return false }
        try DictionaryView.requireShape(node)
        let (keyRoot, valueRoot) = (try node.optionalRef(0, "keys"), try node.optionalRef(1, "values"))
        guard !keyRoot.isNone, !valueRoot.isNone else { return false }
        guard let keys = try shortList(keyRoot, ElementShape(type: .string, isNullable: false)),
            let values = try shortList(valueRoot, .mixed), keys.count == values.count,
            LeafProof(isNullable: false).proves(keys), LeafProof(isNullable: true).proves(values),
            case .string(let texts) = keys
        else { return false }
        var previous: ByteView?
        for row in 0..<texts.count {
            guard let text = try texts.string(row) else { return false }
            if let previous, previous >= text { return false }
            previous = text
        }
        return true
    }

    /// Returns the elements of a list that is a single leaf of usual size; nil for others.
    private func shortList(_ root: Ref, _ shape: ElementShape) throws(StorageError) -> ColumnLeaf? {
        let node = try snapshot.space.node(at: root)
        guard !node.isInner else { return nil }
        let elements = try ColumnLeaf(node, snapshot.space, shape, inCluster: false)
        return elements.count <= LeafWalk.longestLeaf ? elements : nil
    }

    /// How many elements the leaf of a list has at most. Longer ones are counted against a budget.
    private static let longestLeaf = 1023
}
