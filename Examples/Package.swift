// swift-tools-version: 6.1

import PackageDescription

// Web apps on Core Data, and what they share: one package, so that what they depend on is built once.
let package = Package(
    name: "WebApps",
    traits: [
        .trait(name: "PostgreSQL", description: "Stores of the apps on a PostgreSQL server: --store postgresql://….")
    ],
    dependencies: [
        .package(name: "OpenCoreData", path: ".."),
        // Accounts and the interface for programs of Grocery Cloud.
        .package(
            name: "Service", path: "../Service",
            traits: [.trait(name: "PostgreSQL", condition: .when(traits: ["PostgreSQL"]))]),
        // Without its support for configuration files, which is long to build.
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0", traits: ["FullFoundation"]),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
    ],
    targets: [
        .target(
            name: "LivePages",
            dependencies: [
                .product(name: "CoreDataToolkit", package: "OpenCoreData"),
                .product(name: "CoreData", package: "OpenCoreData"),
                // Neither built nor linked by who does not ask for the trait.
                .product(
                    name: "CoreDataPostgreSQL", package: "OpenCoreData", condition: .when(traits: ["PostgreSQL"])),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "LivePages", resources: [.copy("Assets")]),
        .executableTarget(
            name: "GroceryDude",
            dependencies: [
                "LivePages",
                .product(name: "CoreDataSync", package: "OpenCoreData"),
                .product(name: "CoreDataRemoteSync", package: "OpenCoreData"),
                .product(name: "CoreDataToolkit", package: "OpenCoreData"),
                .product(name: "CoreData", package: "OpenCoreData"),
                .product(name: "Hummingbird", package: "hummingbird"),
            ],
            path: "GroceryDude/Sources/GroceryDude", resources: [.copy("Assets")],
            plugins: [.plugin(name: "CoreDataModelPlugin", package: "OpenCoreData")]),
        .executableTarget(
            name: "GroceryCloud",
            dependencies: [
                "LivePages",
                .product(name: "CoreDataAccounts", package: "Service"),
                .product(name: "CoreDataService", package: "Service"),
                .product(name: "CoreDataPermissions", package: "OpenCoreData"),
                .product(name: "CoreData", package: "OpenCoreData"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            path: "GroceryCloud/Sources/GroceryCloud", resources: [.copy("Assets")],
            plugins: [.plugin(name: "CoreDataModelPlugin", package: "OpenCoreData")]),
        .executableTarget(
            name: "MyMovies",
            dependencies: [
                "LivePages",
                .product(name: "CoreDataToolkit", package: "OpenCoreData"),
                .product(name: "CoreData", package: "OpenCoreData"),
                .product(name: "Hummingbird", package: "hummingbird"),
            ],
            path: "MyMovies/Sources/MyMovies", resources: [.copy("Assets")],
            plugins: [.plugin(name: "CoreDataModelPlugin", package: "OpenCoreData")]),
        // The model editor and store browser; all but the socket is in the root package.
        .executableTarget(
            name: "coredata-studio",
            dependencies: [
                .product(name: "CoreDataStudio", package: "OpenCoreData"),
                // For the demo.
                .product(name: "CoreDataToolkit", package: "OpenCoreData"),
                .product(name: "CoreData", package: "OpenCoreData"),
                .product(
                    name: "CoreDataPostgreSQL", package: "OpenCoreData", condition: .when(traits: ["PostgreSQL"])),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Studio/Sources/coredata-studio", resources: [.embedInCode("Demo/contents")]),
        // A browser made of a socket, and a real one; what the tests of both apps use.
        .target(
            name: "LivePagesTesting",
            dependencies: [
                "LivePages",
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "LivePagesTesting"),
        .testTarget(
            name: "GroceryDudeTests",
            dependencies: [
                "GroceryDude", "LivePages", "LivePagesTesting", .product(name: "CoreData", package: "OpenCoreData"),
                // A program that tests start.
                "GroceryCloud",
                .product(name: "CoreDataToolkit", package: "OpenCoreData"),
                .product(name: "CoreDataSync", package: "OpenCoreData"),
                .product(name: "CoreDataRemoteSync", package: "OpenCoreData"),
            ],
            path: "GroceryDude/Tests/GroceryDudeTests"),
        .testTarget(
            name: "GroceryCloudTests",
            dependencies: [
                "GroceryCloud", "LivePages", "LivePagesTesting", .product(name: "CoreData", package: "OpenCoreData"),
                .product(name: "CoreDataAccounts", package: "Service"),
            ],
            path: "GroceryCloud/Tests/GroceryCloudTests"),
        .testTarget(
            name: "MyMoviesTests",
            dependencies: [
                "MyMovies", "LivePages", "LivePagesTesting", .product(name: "CoreData", package: "OpenCoreData"),
            ],
            path: "MyMovies/Tests/MyMoviesTests"),
        .testTarget(
            name: "StudioTests",
            dependencies: [
                "coredata-studio", "LivePagesTesting",
                .product(name: "CoreDataStudio", package: "OpenCoreData"),
                .product(name: "CoreData", package: "OpenCoreData"),
            ],
            path: "Studio/Tests/StudioTests"),
    ],
    swiftLanguageModes: [.v6]
)
