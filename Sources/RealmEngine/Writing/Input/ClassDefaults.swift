// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform
package import RealmStorage

/// The values that new objects get for properties which a create leaves out. They come from the configuration
/// of a realm and are not stored in its file.
package struct ClassDefaults: Sendable {
    /// The default of one property.
    package struct Value: Sendable {
        /// The name of the property.
        let name: String
        let input: InputValue
        /// The value as JSON, as it was given.
        let text: String

        /// Makes a default.
        ///
        /// - Parameters:
        ///   - name: The name of the property.
        ///   - text: The value as JSON.
        package init(name: String, input: InputValue, text: String) {
            self.name = name
            self.input = input
            self.text = text
        }
    }

    let byClass: [ByteText: [Value]]

    package static let none = ClassDefaults([:])

    package var isEmpty: Bool { byClass.isEmpty }

    /// Makes defaults.
    ///
    /// - Parameter byClass: The defaults by the name of their class; no two of a class have the same name.
    package init(_ byClass: [ByteText: [Value]]) { self.byClass = byClass }

    /// Returns the default of a property as JSON; nil when it has none.
    package func text(of property: String, in className: String) -> String? {
        byClass[className]?.first { $0.name == property }?.text
    }

    /// Whether other defaults state the same values.
    package func isSame(as other: ClassDefaults) -> Bool {
        byClass.count == other.byClass.count
            && byClass.allSatisfy { name, values in
                other.byClass[name]?.elementsEqual(values) { $0.name == $1.name && $0.text == $1.text } ?? false
            }
    }

    /// Finds a default that does not fit the schema of a realm.
    ///
    /// - Parameter snapshot: The version whose schema counts.
    /// - Returns: The names of the class and, where the class exists, the property, and the reason as a sentence; nil
    ///   when all fit.
    package func defect(in snapshot: Snapshot) -> (className: String, property: String?, reason: String)? {
        for (className, values) in byClass.map({ ($0.key.text, $0.value) }).sorted(by: { $0.0 < $1.0 }) {
            guard let table = snapshot.classTable(named: className) else {
                return (className, nil, "there is no class '\(className)'")
            }
            for value in values {
                if let reason = ClassDefaults.defect(of: value, in: table) { return (className, value.name, reason) }
            }
        }
        return nil
    }

    /// Returns why a value cannot be the default of its property; nil when it can.
    private static func defect(of value: Value, in table: Table) -> String? {
        guard let column = table.column(named: value.name) else { return "the class has no property '\(value.name)'" }
        guard column.leafIndex != table.primaryKey?.leafIndex else { return "a primary key has no default" }
        guard column.type != .link else { return "links and embedded objects have no default" }
        var elements = [value.input]
        switch (column.collection, value.input) {
        case (nil, _): break
        case (.dictionary?, .object(let object)): elements = object.members.map(\.value)
        case (.list?, .list(let list)), (.set?, .list(let list)): elements = list
        case (.dictionary?, _): return "expected an object for a dictionary"
        case (.list?, _), (.set?, _): return "expected an array for a list or set"
        }
        guard column.type != .mixed else { return nil }
        for element in elements {
            do throws(WriteError) {
                _ = try ValueReader.read(element, as: column.type, isNullable: column.isNullable)
            } catch {
                return error.detail
            }
        }
        return nil
    }
}

extension RealmSchema {
    /// Returns the schema with the values that creates take for properties they leave out.
    package func adding(_ defaults: ClassDefaults) -> RealmSchema {
        guard !defaults.byClass.isEmpty else { return self }
        return RealmSchema(
            version: version,
            classes: classes.map { one in
                let properties = one.properties.map { property in
                    var property = property
                    property.defaultText = defaults.text(of: property.name, in: one.name)
                    return property
                }
                return ClassSchema(
                    name: one.name, kind: one.kind, primaryKey: one.primaryKey, properties: properties,
                    backlinks: one.backlinks)
            })
    }
}
