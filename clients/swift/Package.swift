// swift-tools-version: 6.0

import PackageDescription

let package = Package(
    name: "RealmRest",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [.library(name: "RealmRest", targets: ["RealmRest"])],
    targets: [
        .target(name: "CTransfer"),
        .target(name: "RealmRest", dependencies: [.target(name: "CTransfer", condition: .when(platforms: [.linux]))]),
        .testTarget(name: "RealmRestTests", dependencies: ["RealmRest"]),
    ],
    swiftLanguageModes: [.v6]
)
