// swift-tools-version: 6.1

import PackageDescription

/// The name under which the compiler knows the framework's package: that of the folder that it lies in.
let framework = String(Context.packageDirectory.split(separator: "/").dropLast().last ?? "").lowercased()
    .replacing("-", with: "_").replacing(".", with: "_")

// Apart from the product, so that whoever uses `CoreData` never builds a benchmark or GRDB.
let package = Package(
    name: "Benchmarks",
    traits: [
        .trait(name: "PostgreSQL", description: "P1 … P6, on a server of PostgreSQL's; needs libpq and a server.")
    ],
    dependencies: [
        .package(name: "OpenCoreData", path: ".."),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    ],
    targets: [
        // What the same work costs with nothing between the program and SQLite.
        .target(name: "RawSQLite", linkerSettings: [.linkedLibrary("sqlite3")]),
        .target(name: "Measuring"),
        // The product's side and the C calls' side of each workload.
        .target(
            name: "Sides",
            dependencies: ["Measuring", "RawSQLite", .product(name: "CoreData", package: "OpenCoreData")]),
        // Tells valgrind what to count.
        .target(name: "Callgrind"),
        // Counts instructions; without GRDB, so that CI builds no more than the product.
        .executableTarget(
            name: "bench-count", dependencies: ["Callgrind", "Measuring", "RawSQLite", "Sides"],
            // Valgrind before 3.20 gives up at the debug information that Swift writes; the names stay.
            linkerSettings: [.unsafeFlags(["-Xlinker", "--strip-debug"], .when(platforms: [.linux]))]),
        .executableTarget(
            name: "benchmarks",
            dependencies: [
                "Measuring", "RawSQLite", "Sides",
                .product(name: "CoreData", package: "OpenCoreData"),
                .product(name: "GRDB", package: "GRDB.swift"),
            ]),
        // SwiftData beside Core Data; apart, so that who measures something else builds no macros.
        .executableTarget(
            name: "bench-swiftdata",
            dependencies: [
                "Measuring", .product(name: "CoreData", package: "OpenCoreData"),
                .product(name: "SwiftData", package: "OpenCoreData"),
            ]),
        // The states of CoreDataSyncEngine, which only the framework's own package sees: the compiler takes this target for a part of it.
        .target(
            name: "SyncStates", dependencies: [.product(name: "CoreDataSync", package: "OpenCoreData")],
            packageAccess: false, swiftSettings: [.unsafeFlags(["-package-name", framework])]),
        // Synchronisation beside fetches, exports and batch inserts.
        .executableTarget(
            name: "bench-sync",
            dependencies: [
                "Measuring", "SyncStates", .product(name: "CoreData", package: "OpenCoreData"),
                .product(name: "CoreDataSync", package: "OpenCoreData"),
            ]),
        // What the same work costs with nothing between the program and libpq; empty without the trait.
        .target(
            name: "RawPostgreSQL",
            cSettings: [.define("WITH_POSTGRESQL", .when(traits: ["PostgreSQL"]))],
            linkerSettings: [.linkedLibrary("pq", .when(traits: ["PostgreSQL"]))]),
        // The server that the tests start, too: a link to Tests/PostgreSQLServer.
        .target(name: "PostgreSQLServer"),
        .executableTarget(
            name: "bench-postgresql",
            dependencies: [
                "Measuring", "PostgreSQLServer", "RawPostgreSQL", "RawSQLite", "Sides",
                .product(name: "CoreData", package: "OpenCoreData"),
                .product(
                    name: "CoreDataPostgreSQL", package: "OpenCoreData", condition: .when(traits: ["PostgreSQL"])),
            ]),
    ],
    swiftLanguageModes: [.v6]
)
