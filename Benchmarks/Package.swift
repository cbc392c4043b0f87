// swift-tools-version: 6.1

import PackageDescription

// Apart from the product, so that whoever uses `CoreData` never builds a benchmark or GRDB.
let package = Package(
    name: "Benchmarks",
    dependencies: [
        .package(name: "OpenCoreData", path: ".."),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    ],
    targets: [
        // What the same work costs with nothing between the program and SQLite.
        .target(name: "RawSQLite", linkerSettings: [.linkedLibrary("sqlite3")]),
        .target(name: "Measuring"),
        .executableTarget(
            name: "benchmarks",
            dependencies: [
                "Measuring", "RawSQLite",
                .product(name: "CoreData", package: "OpenCoreData"),
                .product(name: "GRDB", package: "GRDB.swift"),
            ]),
    ],
    swiftLanguageModes: [.v6]
)
