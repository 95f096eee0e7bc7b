// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// The numbers of differences that a comparison has found.
package struct DifferenceCounts: Sendable {
    /// The numbers of objects of a class.
    package struct Objects: Sendable {
        package fileprivate(set) var added = 0
        package fileprivate(set) var removed = 0
        package fileprivate(set) var changed = 0
    }

    package private(set) var schema = 0
    /// The numbers of objects by their classes; only classes with differences.
    package private(set) var classes: [ByteText: Objects] = [:]
    /// Whether no difference was found.
    package var isEqual: Bool { schema == 0 && classes.isEmpty }

    /// The numbers of objects of all classes.
    package var objects: Objects {
        classes.values.reduce(into: Objects()) { sum, one in
            sum.added += one.added
            sum.removed += one.removed
            sum.changed += one.changed
        }
    }

    mutating func addSchemaDifference() { schema += 1 }

    mutating func add(_ difference: ObjectDifference) {
        var counts = classes[difference.objectClass.name] ?? Objects()
        switch difference.kind {
        case .added: counts.added += 1
        case .removed: counts.removed += 1
        case .changed: counts.changed += 1
        }
        classes.updateValue(counts, forKey: difference.objectClass.name)
    }

    /// Writes the counts as members of an object.
    package func write(to writer: inout JSONWriter) {
        writer.member("equal", bool: isEqual)
        writer.member("schema", int: schema)
        objects.write(to: &writer)
        writer.key("classes")
        writer.beginObject()
        for (name, counts) in classes.sorted(by: { $0.key < $1.key }) {
            writer.key(name.text)
            writer.beginObject()
            counts.write(to: &writer)
            writer.endObject()
        }
        writer.endObject()
    }
}

extension DifferenceCounts.Objects {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.member("added", int: added)
        writer.member("removed", int: removed)
        writer.member("changed", int: changed)
    }

    /// The counts as words.
    var text: String { "\(added) added, \(removed) removed, \(changed) changed" }
}
