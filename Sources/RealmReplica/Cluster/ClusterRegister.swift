// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// Keeps the nodes of a cluster and their shards. Every call waits for an answer.
package protocol ClusterRegister: Sendable {
    /// Records the heartbeat of a node, and returns the map.
    ///
    /// - Parameters:
    ///   - token: Identifies the process among all of that name.
    ///   - known: The map of the call before.
    /// - Throws: `.refused(.logUnavailable)`; `.refused(.unsuitable)` when another process that lives has the name of the node.
    func beat(_ node: ClusterNode, token: String, _ known: ClusterMap) throws(StorageError) -> ClusterMap

    /// Returns the map without being a node.
    func map() throws(StorageError) -> ClusterMap

    /// Returns the number of the map.
    func number() throws(StorageError) -> UInt64

    /// Gives shards to a node.
    ///
    /// - Parameters:
    ///   - id: The name of the node.
    ///   - former: The node that has them; those that another one has are left out. Nil for any.
    ///   - patience: Only if the former node was silent for so many seconds or is leaving; nil in any case.
    /// - Returns: The number of shards that the node received.
    func assign(
        _ shards: [Int], to id: String, from former: String?, ifSilentFor patience: Double?
    ) throws(StorageError) -> Int

    /// Forgets a node that has no shards any more.
    ///
    /// - Returns: Whether there was such a node.
    func forget(_ id: String) throws(StorageError) -> Bool
}
