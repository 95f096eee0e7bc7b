// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// Which elements of a collection a request means, and in which order.
struct CollectionView {
    private let context: ReadContext
    private let parameters: ReadParameters
    private let elements: Elements

    init(_ context: ReadContext, _ parameters: ReadParameters, _ elements: Elements) {
        self.context = context
        self.parameters = parameters
        self.elements = elements
    }

    /// Positions in the collection, in the order asked for.
    func positions() throws(Problem) -> Positions {
        .all(elements.count)
    }

    /// Positions in a collection.
    enum Positions {
        /// All of so many, in order.
        case all(Int)
        case chosen([Int])

        var count: Int {
            switch self {
            case .all(let count): return count
            case .chosen(let positions): return positions.count
            }
        }

        subscript(index: Int) -> Int {
            switch self {
            case .all: return index
            case .chosen(let positions): return positions[index]
            }
        }
    }
}
