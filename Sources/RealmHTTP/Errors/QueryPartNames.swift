// SPDX-License-Identifier: Apache-2.0

internal import RealmQuery

/// The parameters of a request that the parts of its query come from.
package struct QueryPartNames: Sendable {
    /// That of the text and its arguments.
    package let text: String
    /// That of the sort keys: `sectionBy` where sections demand the sort.
    package let sort: String

    package init(text: String = "where", sort: String = "sort") {
        self.text = text
        self.sort = sort
    }

    /// The parameter of a part that is no part of the text; nil for the others.
    func orderName(of part: QueryError.Part?) -> String? {
        switch part {
        case .sort: return sort
        case .distinct: return "distinct"
        case .text, .argument, nil: return nil
        }
    }
}
