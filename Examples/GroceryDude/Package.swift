// swift-tools-version: 6.1

import PackageDescription

// A web app on Core Data: a package of its own, as its owner would write it.
let package = Package(
    name: "GroceryDude",
    dependencies: [
        .package(name: "OpenCoreData", path: "../.."),
        // Without its support for configuration files, which is long to build.
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0", traits: ["FullFoundation"]),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
    ],
    targets: [
        .executableTarget(
            name: "GroceryDude",
            dependencies: [
                .product(name: "CoreData", package: "OpenCoreData"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
            ],
            resources: [.copy("Assets")],
            plugins: [.plugin(name: "CoreDataModelPlugin", package: "OpenCoreData")]),
        .testTarget(
            name: "GroceryDudeTests",
            dependencies: ["GroceryDude", .product(name: "CoreData", package: "OpenCoreData")]),
    ],
    swiftLanguageModes: [.v6]
)
