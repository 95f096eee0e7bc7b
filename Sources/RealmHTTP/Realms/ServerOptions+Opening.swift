// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

extension ServerOptions {
    /// How a realm is opened, whether at the start of the server or for a request.
    ///
    /// What differs from realm to realm (key, mode, names of linking objects) is added by the caller.
    var openOptions: Database.OpenOptions {
        var opening = Database.OpenOptions()
        opening.limits = WriteLimits(limits)
        opening.observation = ObservationLimits(evaluationTime: .seconds(limits.observationSeconds))
        opening.verification = verification
        opening.keptCopyCount = keptCopyCount
        return opening
    }
}
