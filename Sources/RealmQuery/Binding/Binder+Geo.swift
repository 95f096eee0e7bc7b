// SPDX-License-Identifier: Apache-2.0

import RealmStorage

extension Binder {
    mutating func condition(_ syntax: GeoWithinSyntax) throws(QueryError) -> Condition {
        throw invalid(.geospatial, "not yet", syntax.regionRange)
    }
}
