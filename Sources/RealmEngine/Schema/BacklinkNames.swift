// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform
package import RealmQuery
package import RealmStorage

/// The names of linking objects (inverse relationships), such as `{"Dog":{"owners":"Person.dogs"}}`.
///
/// An app's model has these names, but a file does not store them, so they come from the configuration. Queries and key paths
/// accept them, and objects contain them as members. They are checked against the schema when a realm is opened.
package struct BacklinkNames: Sendable, Equatable {
    /// The names of each class, each with its origin: the linking class and property, separated by a dot.
    package let byClass: [ByteText: [ByteText: String]]
    /// The same names in the form in which the query language uses them.
    package let mapping: KeyPathMapping

    /// An instance without any names.
    package static let none = BacklinkNames([:])

    /// Makes the names from the dictionary of the configuration; they are not checked yet.
    ///
    /// - Parameter byClass: For each class its names, each with the linking class and property, separated
    ///   by a dot.
    package init(_ byClass: [ByteText: [ByteText: String]]) {
        self.byClass = byClass
        var mapping = KeyPathMapping()
        for (className, names) in byClass {
            for (name, path) in names { mapping.addProperty(name.text, of: className.text, path: "@links." + path) }
        }
        self.mapping = mapping
    }

    /// Returns whether the names are equal. The mapping is derived from them and not compared.
    package static func == (left: BacklinkNames, right: BacklinkNames) -> Bool { left.byClass == right.byClass }

    /// Checks the names against a schema.
    ///
    /// - Parameter snapshot: The version whose classes and properties the names must fit.
    /// - Returns: A sentence that describes the first error; nil when all names fit.
    package func defect(in snapshot: Snapshot) -> String? {
        for (className, names) in byClass.map({ ($0.key.text, $0.value) }).sorted(by: { $0.0 < $1.0 }) {
            guard let table = snapshot.classTable(named: className) else { return "there is no class '\(className)'" }
            for (name, path) in names.map({ ($0.key.text, $0.value) }).sorted(by: { $0.0 < $1.0 }) {
                if table.column(named: name) != nil { return "class \(className) has a property '\(name)' already" }
                guard BacklinkNames.isName(name) else { return "'\(name)' is not a name" }
                guard table.backlinkColumn(from: path, in: snapshot) != nil else {
                    return "no property '\(path)' links to class \(className)"
                }
            }
        }
        return nil
    }

    /// Returns whether a name can be part of a key path: it has letters, digits and underscores only.
    private static func isName(_ name: String) -> Bool {
        !name.isEmpty && name.unicodeScalars.allSatisfy { $0.properties.isAlphabetic || ("0"..."9").contains($0) || $0 == "_" }
    }

    /// Returns the configured name of the objects that link to a class through a property; nil when it has none.
    ///
    /// - Parameters:
    ///   - className: The class that the links lead to.
    ///   - origin: The class that has the links.
    ///   - property: The property of `origin` that has the links.
    package func name(of className: String, origin: String, property: String) -> String? {
        byClass[className]?.filter { $0.value == "\(origin).\(property)" }.map(\.key.text).min()
    }
}

extension Table {
    /// Returns the hidden backlink column for the links that come from a property.
    ///
    /// - Parameters:
    ///   - path: A class and a property of it, separated by a dot.
    ///   - snapshot: The version that this table belongs to.
    /// - Returns: The linking table, its link column, and the backlink column of this table; nil when
    ///   there is no such link.
    package func backlinkColumn(from path: String, in snapshot: Snapshot) -> (origin: Table, column: Column, backlinks: Column)? {
        guard let dot = path.utf8.firstIndex(of: UInt8(ascii: ".")),
            let origin = snapshot.classTable(named: String(path[..<dot])),
            let column = origin.column(named: String(path[path.utf8.index(after: dot)...])), column.type == .link,
            let backlinks = backlinks.first(where: {
                $0.targetTable == origin.key && $0.oppositeColumn?.leafIndex == column.leafIndex
            })
        else { return nil }
        return (origin, column, backlinks)
    }
}
