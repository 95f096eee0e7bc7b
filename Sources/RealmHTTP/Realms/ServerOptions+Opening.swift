// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine

/// How the options of a server determine the options of its realms.
extension ServerOptions {
    /// The options with which every realm is opened, whether at the start of the server or for a
    /// request.
    ///
    /// They carry the limits of writes and of observation, the verification before the first write,
    /// and the number of backup copies. The caller adds what differs from realm to realm: the
    /// encryption key, the mode, and the names of linking objects.
    var openOptions: Database.OpenOptions {
        var opening = Database.OpenOptions()
        opening.limits = WriteLimits(limits)
        opening.observation = ObservationLimits(evaluationTime: .seconds(limits.observationSeconds))
        opening.verification = verification
        opening.keptCopyCount = keptCopyCount
        return opening
    }
}
