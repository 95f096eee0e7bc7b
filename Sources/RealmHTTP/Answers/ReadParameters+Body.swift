// SPDX-License-Identifier: Apache-2.0

extension ReadParameters {
    /// The parameters of a call, from its URL, and from its body where the method has one.
    init(
        ofBodyAnd call: Call, _ kind: ReadParameters.Kind, formats: ResponseFormat.Choice
    ) throws(Problem) {
        guard call.request.method == .query || call.request.method == .post else {
            try self.init(call.request, call.limits, kind, formats: formats)
            return
        }
        try RequestBody.requireJSON(call.request)
        _ = try ResponseFormat.negotiate(
            call.request, parameter: (try? QueryParameters(call.request.target))?["format"], among: formats)
        let body = try RequestBody.object(call.request, call.limits)
        try self.init(call.request, call.limits, kind, formats: formats, body: body)
    }
}
