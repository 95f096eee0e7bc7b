// SPDX-License-Identifier: Apache-2.0

/// Fields that proxies add. A client can send them too, and only loses by it.
package enum ForwardingHeader {
    /// Names in lower case; those that begin with `x-forwarded` belong to them.
    package static let names: [StaticString] = [
        "forwarded", "via", "x-real-ip", "x-client-ip", "x-cluster-client-ip", "x-original-forwarded-for",
        "x-envoy-external-address", "true-client-ip", "cf-connecting-ip", "fastly-client-ip", "fly-client-ip", "cdn-loop",
    ]
    /// The beginning of the names of one family: `x-forwarded-for`, `x-forwarded-proto` and others like them.
    package static let prefix: StaticString = "x-forwarded"
}
