import CoreDataPorting
import CoreDataPrimitives
import Foundation

// What the plug-in CoreDataPortPlugin runs: ports the sources of one target into copies.
//
//     coredata-port SOURCE COPY [SOURCE COPY …]
//
// What could not be ported is told as compilers tell it, at the source's own line.

func fail(_ message: String) -> Never {
    FileHandle.standardError.write(Data("error: \(message)\n".utf8))
    exit(1)
}

let arguments = Array(CommandLine.arguments.dropFirst())
guard !arguments.isEmpty, arguments.count.isMultiple(of: 2) else { fail("usage: coredata-port SOURCE COPY …") }
let pairs = stride(from: 0, to: arguments.count, by: 2).map { (source: arguments[$0], copy: arguments[$0 + 1]) }

do {
    let sources = try pairs.map {
        PortSource(path: $0.source, text: try String(contentsOfFile: $0.source, encoding: .utf8))
    }
    for (pair, ported) in zip(pairs, Porter.port(sources)) {
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
