// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// One step of a key path from objects of one class to objects that are linked with them.
struct LinkStep {
    /// The kind of property that holds the links; a backlink leads from the target of a link to the object that holds it.
    enum Kind { case link, list, set, dictionary, backlink }

    /// States which elements of a collection of links the step takes.
    enum Selector {
        /// Every element; also the selector of to-one links and backlinks.
        case all
        /// Takes the element at a zero-based index of a list.
        case index(Int)
        /// Takes the last element of a list.
        case last
        /// Takes the entry of a dictionary that has this key.
        case key(ByteView)
    }

    /// Whether the step follows one link, a collection of links, or incoming links.
    let kind: Kind
    /// The link column of the class `source`, or its backlink column.
    let column: Column
    /// The class of the objects at which the step starts.
    let source: Table
    /// The class of the objects that the step leads to.
    let target: Table
    /// The name of the step in messages and query plans.
    let label: String
    /// Which elements of a collection of links the step takes.
    var selector = Selector.all

    /// Whether the step takes a single element of a collection, not all of them.
    var hasSelector: Bool {
        if case .all = selector { return false }
        return true
    }
}
