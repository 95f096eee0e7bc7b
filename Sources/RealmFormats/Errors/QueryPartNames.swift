// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
package import RealmQuery
internal import RealmStorage

/// The request parameters that the parts of one query were read from, so that an error can name the right one.
package struct QueryPartNames: Sendable {
    /// The parameter with the query text and its arguments.
    package let text: String
    /// The parameter with the sort keys: `sort`, or `sectionBy` where the sections decide the order.
    package let sort: String
    /// The parameter with the key paths of groups: `groupBy`, or `facets`.
    package let group: String

    /// Names the parameters of a query.
    ///
    /// - Parameters:
    ///   - text: The parameter with the query text.
    ///   - sort: The parameter with the sort keys.
    ///   - group: The parameter with the key paths of groups.
    package init(text: String = "where", sort: String = "sort", group: String = "groupBy") {
        self.text = text
        self.sort = sort
        self.group = group
    }

    /// Returns the parameter of a part that is not in the query text.
    ///
    /// - Parameter part: The part that an error concerns; nil when the engine does not know it.
    /// - Returns: The parameter of the sort, of `distinct` or of groups; nil for the text, its arguments and
    ///   an unknown part.
    package func orderName(of part: QueryError.Part?) -> String? {
        switch part {
        case .sort: return sort
        case .distinct: return "distinct"
        case .group: return group
        case .text, .argument, nil: return nil
        }
    }
}
