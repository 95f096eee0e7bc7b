// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// One step of a key path from object to object.
struct LinkStep {
    /// The kind of property that holds the links; a backlink leads from the target of a link to the
    /// object that holds it.
    enum Kind { case link, list, set, dictionary, backlink }

    /// States which elements of a collection of links the step takes.
    enum Selector {
        /// Every element; also the selector of to-one links and backlinks.
        case all
        /// The element at a zero-based index of a list.
        case index(Int)
        /// The last element of a list.
        case last
        /// The entry of a dictionary with this key.
        case key(ByteView)
    }

    /// The kind of the step.
    let kind: Kind
    /// The link column of `source`, or its backlink column.
    let column: Column
    /// The class at which the step starts.
    let source: Table
    /// The class that the step leads to.
    let target: Table
    /// The name of the step in messages and query plans.
    let label: String
    /// The elements that the step takes.
    var selector = Selector.all

    /// Whether the step takes a single element of a collection.
    var hasSelector: Bool {
        if case .all = selector { return false }
        return true
    }
}
