// swift-tools-version: 6.0

import PackageDescription

// Small apps, one for each way to get model classes; each is an app's package as its owner would write it.
let package = Package(
    name: "Apps",
    dependencies: [
        .package(name: "OpenCoreData", path: "../..")
    ],
    targets: [
        // The README's: a test holds each to the other.
        .executableTarget(
            name: "Groceries",
            dependencies: [.product(name: "CoreData", package: "OpenCoreData")],
            plugins: [.plugin(name: "CoreDataModelPlugin", package: "OpenCoreData")]),
        .testTarget(
            name: "GroceriesTests",
            dependencies: ["Groceries", .product(name: "CoreData", package: "OpenCoreData")]),

        // The same store with models in SwiftData; the README shows them.
        .target(
            name: "GroceriesInSwiftData",
            dependencies: [.product(name: "SwiftData", package: "OpenCoreData")]),
        .testTarget(
            name: "GroceriesInSwiftDataTests",
            dependencies: [
                "GroceriesInSwiftData", .product(name: "CoreData", package: "OpenCoreData"),
                .product(name: "SwiftData", package: "OpenCoreData"),
            ]),

        // A model alone: classes are generated from it.
        .target(
            name: "Recipes",
            dependencies: [.product(name: "CoreData", package: "OpenCoreData")],
            plugins: [.plugin(name: "CoreDataModelPlugin", package: "OpenCoreData")]),
        .testTarget(name: "RecipesTests", dependencies: ["Recipes"]),

        // Hand-written classes with `@NSManaged`; the model is read from its source.
        .target(name: "NotebookKinds"),
        .target(
            name: "Notebook",
            dependencies: ["NotebookKinds", .product(name: "CoreData", package: "OpenCoreData")],
            exclude: ["Notebook.xcdatamodeld"],
            plugins: [.plugin(name: "NSManagedPlugin", package: "OpenCoreData")]),
        .testTarget(name: "NotebookTests", dependencies: ["Notebook"]),

        // Sources as they are on Apple's platforms, compiled from a rewritten copy.
        .target(
            name: "Bookshelf",
            dependencies: [.product(name: "CoreData", package: "OpenCoreData")],
            plugins: [.plugin(name: "CoreDataPortPlugin", package: "OpenCoreData")]),
        .testTarget(name: "BookshelfTests", dependencies: ["Bookshelf"]),
    ],
    swiftLanguageModes: [.v6]
)
