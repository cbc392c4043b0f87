/// The modules that a source can import here without a dependency, and those of this package.
enum ToolchainModules {
    static func contains(_ module: String) -> Bool {
        // Modules with an underscore are internal parts of the toolchain.
        module.hasPrefix("_") || FoundationModules.isPart(module) || names.contains(module)
    }

    private static let names: Set<String> = [
        "Android", "Builtin", "CRT", "CoreData", "Cxx", "CxxStdlib", "Dispatch", "Distributed", "Foundation",
        "FoundationEssentials", "FoundationInternationalization", "Glibc", "Musl", "Observation", "RegexBuilder",
        "Swift",
        "SwiftData", "SwiftOnoneSupport", "Synchronization", "Testing", "WASILibc", "WinSDK", "XCTest", "ucrt",
    ]
}
