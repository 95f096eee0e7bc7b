// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmQuery

/// One operation of a batch, read.
struct BatchOperation: Sendable {
    /// Where it stands; its members are inside.
    let place: InputPlace
    let kind: Kind

    enum Kind: Sendable {
        case create(
            className: String, body: ObjectBodies.Reading, name: String?, policy: WriteSession.UpsertPolicy?, nested: Bool)
        case put(ObjectTarget, body: ObjectBodies.Reading, nested: Bool)
        case patch(ObjectTarget, ObjectPatch, nested: Bool)
        case delete(ObjectTarget)
        case patchWhere(className: String, Matches, body: ObjectBodies.Reading, nested: Bool)
        case deleteWhere(className: String, Matches)
        case increment(ObjectTarget, PropertyAddress, by: Result<InputValue, InputReader.Mistake>)
        case assertObject(ObjectTarget, Matches?)
        case assertCount(className: String, Matches?, count: Int?)
        case list(ObjectTarget, PropertyAddress, [CollectionStep])
        case set(ObjectTarget, PropertyAddress, [CollectionStep])
        case dictionary(ObjectTarget, PropertyAddress, [CollectionStep])
    }

    /// An object that an operation is about, with what is asked of it.
    struct ObjectTarget: Sendable {
        let className: String
        let key: ObjectName
        let condition: WriteCondition
    }

    /// The objects that a query matches.
    struct Matches: Sendable {
        let query: Query
        let args: [JSONValue]
        let maximum: Int?
    }

    /// One change of a collection: its word and what stands with it.
    struct CollectionStep: Sendable {
        let word: String
        let value: JSONValue
        let place: InputPlace
    }
}
