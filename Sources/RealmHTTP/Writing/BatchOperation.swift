// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmQuery
internal import RealmStorage

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
        case increment(ObjectTarget, PropertyAddress, by: Result<InputValue, InputReader.Mistake>)
        case query(QueryKind)
        case collection(CollectionKind, ObjectTarget, PropertyAddress, [CollectionStep])
    }

    /// What is done with the objects that a query matches.
    enum QueryKind: Sendable {
        case patch(className: String, Matches, body: ObjectBodies.Reading, nested: Bool)
        case delete(className: String, Matches)
        case assertObject(ObjectTarget, Matches?)
        case assertCount(className: String, Matches?, count: Int?)
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
        let collection: CollectionKind
        let word: String
        let value: JSONValue
        let place: InputPlace
    }
}
