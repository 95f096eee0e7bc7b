// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// An object that one version has and the other has not, or has with other values.
struct ObjectDifference {
    enum Kind: String {
        case added, removed, changed
    }

    let objectClass: ComparedClass
    /// The object in the earlier version; nil for one that was added.
    let old: Row?
    /// The object in the later version; nil for one that was removed.
    let new: Row?
    /// The positions of the properties that differ; those that each side has for an object of one version.
    let positions: [Int]

    /// Makes the difference of an object that one version has.
    init(_ objectClass: ComparedClass, old: Row) {
        self.init(
            objectClass, old, nil, positions: objectClass.properties.indices.filter { objectClass.properties[$0].old != nil })
    }

    /// Makes the difference of an object that the later version alone has.
    init(_ objectClass: ComparedClass, new: Row) {
        self.init(
            objectClass, nil, new, positions: objectClass.properties.indices.filter { objectClass.properties[$0].new != nil })
    }

    /// Makes the difference of an object that both versions have.
    init(_ objectClass: ComparedClass, _ old: Row?, _ new: Row?, positions: [Int]) {
        self.objectClass = objectClass
        self.old = old
        self.new = new
        self.positions = positions
    }

    var kind: Kind {
        if old == nil { return .added }
        return new == nil ? .removed : .changed
    }

    var properties: [ComparedProperty] { positions.map { objectClass.properties[$0] } }

    /// The key of the object in the earlier version, or in the later one if it was added.
    func keyText() throws(StorageError) -> String {
        if let old, let table = objectClass.old?.table { return try objectClass.keyText(old, of: table) }
        if let new, let table = objectClass.new?.table { return try objectClass.keyText(new, of: table) }
        return ""
    }
}
