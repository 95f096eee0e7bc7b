// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
package import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Reads parameters from URLs and bodies alike.
extension ReadParameters {
    /// Reads the parameters of a call from its URL, and for QUERY and POST also from its JSON body.
    ///
    /// - Parameters:
    ///   - call: The request.
    ///   - formats: The forms in which the endpoint can answer.
    /// - Throws: `unsupported_media_type` and `not_acceptable` before the body is parsed; then the
    ///   problems of the body and of the parameters.
    package init(ofBodyAnd call: Call, formats: ResponseFormat.Choice) throws(Problem) {
        guard call.request.method == .query || call.request.method == .post else {
            try self.init(call, formats: formats)
            return
        }
        _ = try call.bodyTypes.type(of: call.request)
        _ = try ResponseFormat.negotiate(
            call.request, parameter: (try? QueryParameters(call.request.target))?["format"], among: formats)
        let body = try call.bodyObject()
        try self.init(call, formats: formats, body: body)
    }
}
