// SPDX-License-Identifier: Apache-2.0

package import RealmEngine
import RealmPlatform
package import RealmQuery
package import RealmStorage

/// The operations of a session for objects that are named by class and key, as most tests name them.
extension WriteSession {
    /// Creates the object of that key, or replaces everything in it.
    package func put(
        _ className: String, _ key: ObjectName, _ body: InputObject, options: Options = Options()
    ) throws(WriteError) -> Written {
        try put(try resolve(key, class: className), body, options: options)
    }

    /// Changes the members given.
    package func patch(
        _ className: String, _ key: ObjectName, _ body: InputObject, options: Options = Options()
    ) throws(WriteError) -> Written {
        try patch(try require(key, class: className), body, options: options)
    }

    /// Writes one property whole.
    package func setProperty(
        _ className: String, _ key: ObjectName, _ property: String, _ value: InputValue, options: Options = Options()
    ) throws(WriteError) {
        let place = try require(key, class: className)
        try setProperty(try self.property(property, of: place), of: place, to: value, options: options)
    }

    /// Deletes an object with what it owns.
    package func delete(_ className: String, _ key: ObjectName) throws(WriteError) -> ObjectPlace {
        let place = try require(key, class: className)
        try delete(place)
        return place
    }

    /// Applies edits in order.
    package func edit(
        _ className: String, _ key: ObjectName, _ edits: [PathEdit], options: Options = Options()
    ) throws(WriteError) -> Written {
        try edit(try require(key, class: className), edits, options: options)
    }

    /// Changes a list.
    package func editList(
        _ className: String, _ key: ObjectName, _ property: PropertyAddress, _ edits: [ListEdit], options: Options = Options()
    ) throws(WriteError) -> Int {
        try editList(property, of: try require(key, class: className), edits, options: options)
    }

    /// Changes a set.
    package func editSet(
        _ className: String, _ key: ObjectName, _ property: PropertyAddress, _ edits: [SetEdit], options: Options = Options()
    ) throws(WriteError) -> Int {
        try editSet(property, of: try require(key, class: className), edits, options: options)
    }

    /// Changes a dictionary.
    package func editDictionary(
        _ className: String, _ key: ObjectName, _ property: PropertyAddress, _ edits: [DictionaryEdit],
        options: Options = Options()
    ) throws(WriteError) -> Int {
        try editDictionary(property, of: try require(key, class: className), edits, options: options)
    }

    /// Adds to a number.
    package func increment(
        _ className: String, _ key: ObjectName, _ property: PropertyAddress, by amount: InputValue
    ) throws(WriteError) -> Value {
        try increment(property, of: try require(key, class: className), by: amount)
    }

    /// Throws unless the object exists, and matches `query` if there is one.
    package func assert(
        _ className: String, _ key: ObjectName, _ query: Query? = nil, arguments: [QueryArgument] = []
    ) throws(WriteError) -> ObjectPlace {
        try assert(try find(key, class: className), query, arguments: arguments)
    }
}
