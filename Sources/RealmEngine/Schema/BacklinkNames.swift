// SPDX-License-Identifier: Apache-2.0

package import RealmQuery
package import RealmStorage

/// Names of linking objects, which an app's model has and a file does not store: `{"Dog":{"owners":"Person.dogs"}}`.
///
/// Queries and key paths know these names; objects show them only where a configuration gives them. They are checked against
/// the schema when a realm is opened.
package struct BacklinkNames: Sendable, Equatable {
    /// By class and name: the linking class and property, with a dot between them.
    package let byClass: [String: [String: String]]
    /// The same for queries.
    package let mapping: KeyPathMapping

    /// No names.
    package static let none = BacklinkNames([:])

    /// Names by class: each with the linking class and property, a dot between them.
    package init(_ byClass: [String: [String: String]]) {
        self.byClass = byClass
        var mapping = KeyPathMapping()
        for (className, names) in byClass {
            for (name, path) in names { mapping.addProperty(name, of: className, path: "@links." + path) }
        }
        self.mapping = mapping
    }

    /// Whether the names are the same; the mapping follows from them.
    package static func == (left: BacklinkNames, right: BacklinkNames) -> Bool { left.byClass == right.byClass }

    /// What of it does not fit a schema, as a sentence; nil when everything does.
    package func mistake(in snapshot: Snapshot) -> String? {
        for (className, names) in byClass.sorted(by: { $0.key < $1.key }) {
            guard let table = snapshot.classTable(named: className) else { return "there is no class '\(className)'" }
            for (name, path) in names.sorted(by: { $0.key < $1.key }) {
                if table.column(named: name) != nil { return "class \(className) has a property '\(name)' already" }
                guard BacklinkNames.isName(name) else { return "'\(name)' is no name" }
                guard table.backlinkColumn(from: path, in: snapshot) != nil else {
                    return "no property '\(path)' links to class \(className)"
                }
            }
        }
        return nil
    }

    /// Names are used in key paths, so dots, brackets and the like cannot be in them.
    private static func isName(_ name: String) -> Bool {
        !name.isEmpty && name.unicodeScalars.allSatisfy { $0.properties.isAlphabetic || ("0"..."9").contains($0) || $0 == "_" }
    }

    /// The name of the objects that link to `className` through a property.
    package func name(of className: String, origin: String, property: String) -> String? {
        byClass[className]?.filter { $0.value == "\(origin).\(property)" }.map(\.key).min()
    }
}

extension Table {
    /// The hidden column of the links that come from `path`: a class and a property of it, with a dot between them.
    package func backlinkColumn(from path: String, in snapshot: Snapshot) -> (origin: Table, column: Column, backlinks: Column)? {
        guard let dot = path.firstIndex(of: "."), let origin = snapshot.classTable(named: String(path[..<dot])),
            let column = origin.column(named: String(path[path.index(after: dot)...])), column.type == .link,
            let backlinks = backlinks.first(where: {
                $0.targetTable == origin.key && $0.oppositeColumn?.leafIndex == column.leafIndex
            })
        else { return nil }
        return (origin, column, backlinks)
    }
}
