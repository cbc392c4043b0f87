#!/usr/bin/env bash
# Builds and tests what reads Swift with the lowest and the highest swift-syntax that Package.swift admits, or with those named:
#
#     SYNTAX_VERSIONS="601.0.1 602.0.0" Scripts/syntax-range.sh [FOLDER]
#
# Each version has a copy of the sources in FOLDER (a new temporary one) with a build of its own; the work tree stays as it is.
set -euo pipefail
cd "$(dirname "$0")/.."

swift=${SWIFT:-swift}
versions=${SYNTAX_VERSIONS:-600.0.1 603.0.1}
folder=${1:-$(mktemp -d)}

for version in $versions; do
    package=$folder/syntax-$version
    mkdir -p "$package/Sources" "$package/Tests"
    for target in CoreDataPrimitives CoreDataDeclarations CoreDataManagedProperties CoreDataPorting; do
        rm -rf "$package/Sources/$target" && cp -R "Sources/$target" "$package/Sources/"
    done
    for target in CoreDataManagedPropertiesTests CoreDataPortingTests; do
        rm -rf "$package/Tests/$target" && cp -R "Tests/$target" "$package/Tests/"
    done
    # Only what reads Swift, so that nothing else is built.
    cat >"$package/Package.swift" <<MANIFEST
// swift-tools-version: 6.1
import PackageDescription

let syntax: [Target.Dependency] = [
    .product(name: "SwiftSyntax", package: "swift-syntax"), .product(name: "SwiftParser", package: "swift-syntax"),
]
let package = Package(
    name: "SyntaxRange",
    dependencies: [.package(url: "https://github.com/swiftlang/swift-syntax", exact: "$version")],
    targets: [
        .target(name: "CoreDataPrimitives"),
        .target(name: "CoreDataDeclarations", dependencies: ["CoreDataPrimitives"]),
        .target(name: "CoreDataManagedProperties", dependencies: ["CoreDataPrimitives"] + syntax),
        .target(
            name: "CoreDataPorting",
            dependencies: ["CoreDataPrimitives", "CoreDataDeclarations", "CoreDataManagedProperties"] + syntax),
        .testTarget(name: "CoreDataManagedPropertiesTests", dependencies: ["CoreDataManagedProperties"]),
        .testTarget(
            name: "CoreDataPortingTests",
            dependencies: ["CoreDataPorting", "CoreDataDeclarations", "CoreDataPrimitives"] + syntax),
    ],
    swiftLanguageModes: [.v6]
)
MANIFEST
    echo "== swift-syntax $version"
    $swift build --package-path "$package" --build-tests
    $swift test --package-path "$package" --skip-build --disable-xctest
done
