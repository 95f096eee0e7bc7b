// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// The account of all links and backlinks of a version, which is even where every link has its
/// backlink and every backlink its link.
///
/// Links are entered as sums of hashes, in some thousand buckets. Only where a bucket is uneven are
/// its links entered once more, one by one, in a second walk.
struct LinkLedger {
    /// One link, as its origin holds it or as a backlink of its target describes it.
    struct Link: Hashable, Comparable {
        /// The table of the object that holds the link.
        let origin: TableKey
        /// The leaf index of the property that holds the link.
        let column: Int
        /// The object that holds the link.
        let originKey: ObjectKey
        /// The table of the object that the link points to.
        let target: TableKey
        /// The object that the link points to.
        let targetKey: ObjectKey

        /// The order of messages: by table, property and object, then by target.
        static func < (left: Link, right: Link) -> Bool {
            guard left.origin == right.origin, left.column == right.column else {
                return (left.origin, left.column) < (right.origin, right.column)
            }
            return (left.originKey, left.target, left.targetKey) < (right.originKey, right.target, right.targetKey)
        }
    }

    /// The links of one property to one table, of which some are entered.
    struct Page {
        /// The table of the objects that hold the links.
        let origin: TableKey
        /// The leaf index of the property.
        let column: Int
        /// The table of the objects that the links point to.
        let target: TableKey
        /// The state of what the links have in common.
        fileprivate let state: UInt64
    }

    private let hash: ProofHash
    /// The sum of the links in each bucket, minus their backlinks; empty where links are entered one by one.
    private var sums: [ProofSum]
    /// The number of each link minus that of its backlinks, as far as links are entered one by one.
    private var entries: [Link: Int] = [:]
    /// The buckets whose links are entered one by one; nil for all of them.
    private let chosen: [Bool]?

    /// How many bits of a hash choose a bucket.
    private static let bucketBits: UInt64 = 13

    /// Makes an empty ledger.
    ///
    /// - Parameters:
    ///   - isExact: Whether all links are entered one by one.
    init(_ hash: ProofHash, isExact: Bool) {
        self.hash = hash
        sums = isExact ? [] : [ProofSum](repeating: ProofSum(), count: 1 << Int(LinkLedger.bucketBits))
        chosen = nil
    }

    /// Makes an empty ledger for the links of the uneven buckets of another one, which are entered one by one.
    init(unevenOf other: LinkLedger) {
        hash = other.hash
        sums = []
        chosen = other.sums.map { !$0.isZero }
    }

    /// Whether all links have their backlinks, and the other way round.
    var isEven: Bool { sums.allSatisfy(\.isZero) && entries.values.allSatisfy { $0 == 0 } }

    /// The links whose number differs from that of their backlinks, each with the difference, in the
    /// order of messages. They are known where links are entered one by one.
    var uneven: [(link: Link, count: Int)] {
        entries.filter { $0.value != 0 }.map { ($0.key, $0.value) }.sorted { $0.0 < $1.0 }
    }

    /// Returns the page of the links of one property to one table: their keys, and the hash of these.
    func page(origin: TableKey, column: Int, target: TableKey) -> Page {
        var state = hash.step(hash.start, Int64(origin.rawValue))
        state = hash.step(state, Int64(column))
        return Page(origin: origin, column: column, target: target, state: hash.step(state, Int64(target.rawValue)))
    }

    /// Enters a link as its origin holds it.
    @inline(__always)
    mutating func add(_ origin: ObjectKey, _ target: ObjectKey, _ page: Page) {
        let state = state(origin, target, page)
        guard sums.isEmpty else { return sums[LinkLedger.bucket(state)].add(state, hash) }
        enter(origin, target, on: page, state: state, count: 1)
    }

    /// Enters a link as its target describes it.
    @inline(__always)
    mutating func subtract(_ origin: ObjectKey, _ target: ObjectKey, _ page: Page) {
        let state = state(origin, target, page)
        guard sums.isEmpty else { return sums[LinkLedger.bucket(state)].subtract(state, hash) }
        enter(origin, target, on: page, state: state, count: -1)
    }

    /// Returns the state of a whole link.
    @inline(__always)
    private func state(_ origin: ObjectKey, _ target: ObjectKey, _ page: Page) -> UInt64 {
        hash.step(hash.step(page.state, origin.rawValue), target.rawValue)
    }

    @inline(__always)
    private static func bucket(_ state: UInt64) -> Int { Int(truncatingIfNeeded: state >> (64 - bucketBits)) }

    /// Enters a link separately, if its bucket is one of those for single links.
    ///
    /// - Parameters:
    ///   - origin: The object that holds the link.
    ///   - target: The object that the link points to.
    ///   - page: The facts that the link shares with others.
    ///   - state: The state of the whole link.
    ///   - count: 1 for a link, -1 for a backlink.
    @inline(never)
    private mutating func enter(
        _ origin: ObjectKey, _ target: ObjectKey, on page: Page, state: UInt64, count: Int
    ) {
        if let chosen, !chosen[LinkLedger.bucket(state)] { return }
        let link = Link(
            origin: page.origin, column: page.column, originKey: origin, target: page.target, targetKey: target)
        let total = (entries[link] ?? 0) + count
        entries[link] = total == 0 ? nil : total
    }
}
