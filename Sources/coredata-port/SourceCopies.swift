import CoreDataPorting
import CoreDataPrimitives
import Foundation

/// Ports the sources of one target into copies, for a build.
///
/// Each `--module NAME` at the beginning names a module of Apple's that the target has here. The sources after
/// `--beside` are the target's own: they are not ported, but what types they declare is there. What could not be ported
/// is told as compilers tell it, at the source's own line.
struct SourceCopies {
    private let pairs: [(source: String, copy: String)]
    private let others: [String]
    private let modules: Set<String>

    init(arguments: ArraySlice<String>) throws(UsageFailure) {
        var arguments = arguments
        var modules: Set<String> = []
        while arguments.first == "--module" {
            guard let module = arguments.dropFirst().first else { throw UsageFailure() }
            modules.insert(module)
            arguments = arguments.dropFirst(2)
        }
        self.modules = modules
        let parts = arguments.split(separator: "--beside", maxSplits: 1, omittingEmptySubsequences: false)
        let paths = Array(parts[0])
        guard !paths.isEmpty, paths.count.isMultiple(of: 2) else { throw UsageFailure() }
        pairs = stride(from: 0, to: paths.count, by: 2).map { (source: paths[$0], copy: paths[$0 + 1]) }
        others = parts.count > 1 ? Array(parts[1]) : []
    }

    func run() throws {
        func source(at path: String) throws -> PortSource {
            PortSource(path: path, text: try String(contentsOfFile: path, encoding: .utf8))
        }
        let ported = Porter.port(
            try pairs.map { try source(at: $0.source) }, beside: try others.map(source), having: modules)
        for (pair, ported) in zip(pairs, ported) {
            if !ported.remarks.isEmpty { say(ported.remarks.rendered) }
            // A copy that stays as it is is not compiled again.
            let compiled = ported.compiled
            if let present = try? String(contentsOfFile: pair.copy, encoding: .utf8), present == compiled { continue }
            try FileManager.default.createDirectory(
                at: URL(fileURLWithPath: pair.copy).deletingLastPathComponent(), withIntermediateDirectories: true)
            try compiled.write(toFile: pair.copy, atomically: true, encoding: .utf8)
        }
    }
}
