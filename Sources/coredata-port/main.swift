import CoreDataPorting
import CoreDataPrimitives
import Foundation

// What the plug-in CoreDataPortPlugin runs: ports the sources of one target into copies.
//
//     coredata-port SOURCE COPY [SOURCE COPY …] [--beside SOURCE …]
//
// The sources after --beside are the target's own: they are not ported, but what types they declare is there.
// What could not be ported is told as compilers tell it, at the source's own line.

func fail(_ message: String) -> Never {
    FileHandle.standardError.write(Data("error: \(message)\n".utf8))
    exit(1)
}

let parts = CommandLine.arguments.dropFirst().split(
    separator: "--beside", maxSplits: 1, omittingEmptySubsequences: false)
let arguments = Array(parts[0])
guard !arguments.isEmpty, arguments.count.isMultiple(of: 2) else { fail("usage: coredata-port SOURCE COPY …") }
let pairs = stride(from: 0, to: arguments.count, by: 2).map { (source: arguments[$0], copy: arguments[$0 + 1]) }

do {
    func source(at path: String) throws -> PortSource {
        PortSource(path: path, text: try String(contentsOfFile: path, encoding: .utf8))
    }
    let sources = try pairs.map { try source(at: $0.source) }
    let others = try parts.dropFirst().joined().map(source)
    for (pair, ported) in zip(pairs, Porter.port(sources, beside: others)) {
        if !ported.remarks.isEmpty {
            FileHandle.standardError.write(Data((ported.remarks.rendered + "\n").utf8))
        }
        // A copy that stays as it is is not compiled again.
        let compiled = ported.compiled
        if let present = try? String(contentsOfFile: pair.copy, encoding: .utf8), present == compiled { continue }
        try FileManager.default.createDirectory(
            at: URL(fileURLWithPath: pair.copy).deletingLastPathComponent(), withIntermediateDirectories: true)
        try compiled.write(toFile: pair.copy, atomically: true, encoding: .utf8)
    }
} catch {
    fail("cannot port: \(error.localizedDescription)")
}
