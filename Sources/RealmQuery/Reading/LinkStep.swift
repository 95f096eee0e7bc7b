// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// One step of a path from object to object.
struct LinkStep {
    enum Kind { case link, list, set, dictionary, backlink }

    /// Which elements of a collection the step takes.
    enum Selector {
        case all
        case index(Int)
        case last
        case key(ByteView)
    }

    let kind: Kind
    /// The link column, or the backlink column.
    let column: Column
    let source: Table
    let target: Table
    /// What the step is called in messages and plans.
    let label: String
    var selector = Selector.all

    var hasSelector: Bool {
        if case .all = selector { return false }
        return true
    }
}
