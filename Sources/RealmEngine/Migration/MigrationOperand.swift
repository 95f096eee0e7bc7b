// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The value of a name or key path in an expression of a migration.
enum MigrationOperand {
    /// A single value, null included, with bytes of its own.
    case value(OwnedValue)
    /// An object, top-level or embedded, in one of the two states.
    case object(ObjectPlace, State)
    /// The elements of a list or set, or the entries of a dictionary, in their order.
    case collection([Element], isDictionary: Bool)

    /// Which state of the file is read.
    enum State {
        /// The state after the earlier steps.
        case present
        /// The state before the migration.
        case past
    }

    /// One element of a collection.
    struct Element {
        /// The key of an entry of a dictionary as text, otherwise the index from 0.
        let key: OwnedValue
        /// The element or the value of the entry.
        let value: MigrationOperand
    }

    /// The operand of a link that is null, and of what did not exist before the migration.
    static let null = MigrationOperand.value(OwnedValue(.null))

    /// The bytes of a string or binary; 0 for all others.
    var byteCount: Int {
        if case .value(let held) = self { return held.byteCount }
        return 0
    }
}

extension MigrationOperand {
    /// The values of the names in the expressions of a migration while one object is processed.
    struct Bindings {
        /// The object at whose properties key paths begin that begin with no variable; nil inside loops.
        var subject: ObjectPlace?
        /// The objects and elements by the names of their variables.
        var variables: [ByteText: MigrationOperand] = [:]

        /// Returns the bindings with a variable for an element, and one for its key if that has a name.
        func adding(_ element: MigrationOperand.Element, as name: String, keyAs keyName: String?) -> Bindings {
            var inner = self
            inner.variables[name] = element.value
            if let keyName { inner.variables[keyName] = .value(element.key) }
            return inner
        }
    }
}
