// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// An object on its way in.
struct ImportedObject: Sendable {
    /// Where its record is, to be read again.
    let place: RecordPlace
    /// The class it belongs to.
    let className: String
    /// The key it had where it comes from.
    let key: String?
    /// Its values, or what is wrong with them.
    let body: ObjectBodies.Reading

    /// The line of its record, from 1.
    var line: Int { place.line }
}
