import Foundation
import LibFuzzer

// Feeds one reader with bytes until something breaks it. `make fuzz` runs every reader; by hand:
//
//     fuzz readers                                                // their names, one a line
//     fuzz seeds model-xml corpus                                 // puts files to begin with into a folder
//     FUZZ_READER=model-xml fuzz -max_total_time=60 corpus        // libFuzzer's own options
//     FUZZ_READER=model-xml fuzz crash-0123                       // reads one file again

/// What is asked for: libFuzzer calls a C function, which can hold nothing.
nonisolated(unsafe) private var reader: Reader?  // Safe because it is set once, before anybody reads it.

func stop(_ message: String) -> Never {
    FileHandle.standardError.write(Data((message + "\n").utf8))
    exit(64)
}

switch CommandLine.arguments.dropFirst().first {
case "readers": print(Reader.allCases.map(\.rawValue).joined(separator: "\n"))
case "seeds":
    guard CommandLine.arguments.count == 4, let reader = Reader(rawValue: CommandLine.arguments[2]) else {
        stop("usage: fuzz seeds READER FOLDER")
    }
    try Seeds(folder: URL(fileURLWithPath: CommandLine.arguments[3])).write(for: reader)
default:
    reader = Reader(rawValue: ProcessInfo.processInfo.environment["FUZZ_READER"] ?? "")
    if reader == nil { stop("FUZZ_READER must name one of: \(Reader.allCases.map(\.rawValue).joined(separator: " "))") }
    var count = CommandLine.argc
    var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
    exit(
        LLVMFuzzerRunDriver(&count, &arguments) { bytes, count in
            reader?.read(bytes.map { Data(bytes: $0, count: count) } ?? Data())
            return 0
        })
}
