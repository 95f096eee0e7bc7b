// SPDX-License-Identifier: Apache-2.0

package import RealmEngine
package import RealmFormats
internal import RealmPlatform
internal import RealmQuery
package import RealmStorage

/// One operation of a batch, read from the request body but not yet applied.
///
/// `BatchReader` makes it on the thread that reads the request, before the write waits for its
/// turn. `BatchRun` applies it on the writer's thread. Values in it are inputs that have not met a
/// schema, because the schema is only certain inside the transaction.
package struct BatchOperation: Sendable {
    /// The place of the operation's value in the body, for example `/ops/3/patch`, together with its index in the batch.
    ///
    /// The members of the operation are inside this place, so errors in them extend it.
    package let place: InputPlace
    /// The action, with its members.
    package let kind: Kind

    /// The kinds of operations. Each case carries the members of its operation.
    ///
    /// A `nested` of true means that a full object in the place of a link creates or updates that
    /// object (`nested=upsert`); otherwise it is an error.
    package enum Kind: Sendable {
        /// Creates an object, or updates an existing one when there is an upsert policy.
        ///
        /// The `name` is the value of the member `as`. Later operations of the batch refer to the object by it.
        case create(
            className: String, body: InputReader.Reading, name: String?, policy: WriteSession.UpsertPolicy?, nested: Bool)
        /// Creates the object of a key, or replaces the whole of it.
        case put(ObjectTarget, body: InputReader.Reading, nested: Bool)
        /// Changes some properties of an object, by a merge patch or a JSON Patch.
        case patch(ObjectTarget, ObjectPatch, nested: Bool)
        /// Deletes an object together with the embedded objects that it owns.
        case delete(ObjectTarget)
        /// Adds a number to a numeric property. The number is negative for a decrement.
        case increment(ObjectTarget, PropertyAddress, by: Result<InputValue, InputReader.InputError>)
        /// Changes, deletes or counts the objects that a query matches, or asserts something about one object.
        case query(QueryKind)
        /// Changes single elements of a list, set or dictionary, in the order of the steps.
        case collection(CollectionKind, ObjectTarget, PropertyAddress, [CollectionStep])
    }

    /// The operations `patchWhere`, `deleteWhere` and `assert`.
    package enum QueryKind: Sendable {
        /// Applies one merge patch to every object that matches (`patchWhere`).
        case patch(className: String, Selection, body: InputReader.Reading, nested: Bool)
        /// Deletes every object that matches (`deleteWhere`).
        case delete(className: String, Selection)
        /// Fails the batch unless the object exists, and matches the query if there is one.
        case assertObject(ObjectTarget, Selection?)
        /// Fails the batch unless exactly `count` objects match, or at least one when `count` is nil.
        ///
        /// Without a query all objects of the class count as matches.
        case assertCount(className: String, Selection?, count: Int?)
    }

    /// The object that an operation is about, together with the conditions under which it may be changed.
    package struct ObjectTarget: Sendable {
        /// The name of the object's class, without the internal prefix `class_`.
        let className: String
        /// The object's key: a text as in URLs, or a reference to an object made earlier in the same batch.
        let key: ObjectName
        /// The operation's `ifMatch` and `ifNoneMatch`. They are compared when it is the
        /// operation's turn, so they see the changes of the operations before it.
        let condition: WriteCondition
    }

    /// One change of a collection, for example `{"insert":[2,"a"]}`.
    ///
    /// `OperationMembers` makes it and checks its form with `check()`; `CollectionEdit` applies it.
    package struct CollectionStep: Sendable {
        /// The kind of collection that the operation names. The same word takes different values in
        /// lists, sets and dictionaries.
        let collection: CollectionKind
        /// The name of the change, one of `words(_:)`, for example `insert`.
        let word: String
        /// The argument of the change, as JSON: an element, a position, a pair of them, or `true`.
        let value: JSONValue
        /// The place of the change's value in the request body, for the pointers of errors.
        let place: InputPlace
    }
}

extension BatchOperation {
    /// The name of the class that the operation is about.
    package var className: String {
        switch kind {
        case .create(let className, _, _, _, _): return className
        case .put(let target, _, _), .patch(let target, _, _), .delete(let target), .increment(let target, _, _),
            .collection(_, let target, _, _):
            return target.className
        case .query(.patch(let className, _, _, _)), .query(.delete(let className, _)),
            .query(.assertCount(let className, _, _)):
            return className
        case .query(.assertObject(let target, _)): return target.className
        }
    }
}
