// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

extension BoundQuery {
    /// What the predicate demands of the values that an object itself stores; nil when it demands nothing that can be told
    /// without reading links or collections, or too many different things.
    ///
    /// Constants that name objects are left out, because they become null when the object does not exist.
    package var demand: QueryDemand? {
        DemandFinder.alternatives(of: condition).map { QueryDemand($0, pool: pool) }
    }
}
