// swift-tools-version: 6.1

import PackageDescription

/// What every target is built with: libFuzzer's counters, and the address sanitizer, which also notices a full stack.
let sanitizers = ["-sanitize=fuzzer,address", "-enable-testing"]

/// A target of the product, built anew with counters; `Readers` is a link to the product's `Sources`.
func reader(_ name: String, sources: [String]? = nil, dependencies: [Target.Dependency]) -> Target {
    .target(
        name: name, dependencies: dependencies, path: "Readers/\(name)", sources: sources,
        swiftSettings: [.unsafeFlags(sanitizers)])
}

// Apart from the product: what reads files that strangers made, and a program that feeds it such files.
let package = Package(
    name: "Fuzzing",
    targets: [
        .systemLibrary(name: "CSQLite", path: "Readers/CSQLite", pkgConfig: "sqlite3"),
        .systemLibrary(name: "CCrypto", path: "Readers/CCrypto", pkgConfig: "libcrypto"),
        .systemLibrary(name: "CZlib", path: "Readers/CZlib", pkgConfig: "zlib"),
        .systemLibrary(name: "CExpat", path: "Readers/CExpat", pkgConfig: "expat"),
        reader("CoreDataPrimitives", dependencies: []),
        reader("CoreDataXML", dependencies: ["CExpat"]),
        reader("CoreDataModel", dependencies: ["CoreDataPrimitives", "CoreDataXML", "CCrypto", "CZlib"]),
        reader("CoreDataPredicate", dependencies: ["CoreDataPrimitives"]),
        reader("CoreDataSQL", dependencies: ["CoreDataPrimitives"]),
        reader("CoreDataSQLite", dependencies: ["CoreDataPrimitives", "CoreDataSQL", "CSQLite"]),
        reader(
            "CoreDataStore",
            dependencies: ["CoreDataPrimitives", "CoreDataModel", "CoreDataPredicate", "CoreDataSQL"]),
        reader(
            "CoreDataModelTools",
            dependencies: ["CoreDataPrimitives", "CoreDataModel", "CoreDataPredicate", "CoreDataStore"]),
        reader(
            "CoreDataCLI",
            sources: [
                "Records", "Models/JSON", "Models/ReadingProblems.swift", "ToolFailure.swift", "Values/CellValue.swift",
                "Values/DateText.swift",
            ],
            dependencies: ["CoreDataPrimitives", "CoreDataXML", "CoreDataModel", "CoreDataModelTools"]),
        reader("CoreDataDigests", dependencies: ["CCrypto"]),
        reader("CoreDataSyncEngine", dependencies: ["CoreDataDigests"]),
        .target(name: "LibFuzzer"),
        .executableTarget(
            name: "fuzz",
            dependencies: [
                "LibFuzzer", "CoreDataPrimitives", "CoreDataXML", "CoreDataModel", "CoreDataModelTools",
                "CoreDataPredicate", "CoreDataSQL", "CoreDataSQLite", "CoreDataStore", "CoreDataCLI",
                "CoreDataSyncEngine",
            ],
            swiftSettings: [.unsafeFlags(sanitizers)],
            // Debian's linker fails at so many symbols of the sanitizer; the toolchain has one that does not.
            linkerSettings: [.unsafeFlags(["-sanitize=fuzzer,address", "-use-ld=lld"])]),
    ],
    swiftLanguageModes: [.v6]
)
