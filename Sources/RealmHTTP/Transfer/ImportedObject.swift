// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmPlatform
internal import RealmStorage

/// One object of an import, read but not written.
struct ImportedObject: Sendable {
    /// The place of its record in the input, from which it can be read again.
    let place: RecordPlace
    /// The name of the class that the object belongs to.
    let className: String
    /// The text of the key that it had where it comes from; nil when the input does not state one.
    let key: String?
    /// The values of the object, or the error in them, which is reported when it is written.
    var body: ObjectBodies.Reading

    /// The line in which its record begins, from 1.
    var line: Int { place.line }
}
